# Fixtures import what they use: where a command names this folder, jaxtyping < 0.3.6
# sets its hook only after this file, and refuses if simbias is there by then.
import shutil
import tempfile

import pytest

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000d4944415478da63fcffff3f030005fe02fea1399d"
    "1e0000000049454e44ae426082"
)


@pytest.fixture(scope="session")
def result():
    from runs import true_result

    return true_result()


@pytest.fixture(scope="session")
def shown_result(result):
    from runs import EXPERIMENT, HOSTILE, claims_of_every_kind, with_events

    from simbias.report.page_contents import PageContents

    return PageContents(
        with_events(result),
        f"Is it so? {HOSTILE}",
        f"As in {HOSTILE}",
        tuple(claims_of_every_kind()),
        {"": PNG, f"part {HOSTILE}": PNG},
        f"small {HOSTILE}",
        EXPERIMENT,
    )


@pytest.fixture(scope="session")
def page(shown_result):
    from simbias.report.report import report

    return report(shown_result)


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window; the test is skipped where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no chromium and chromedriver (apt-get install chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = chromium
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for flag in (
            "headless",
            "no-sandbox",
            "disable-gpu",
            "disable-dev-shm-usage",
            "no-first-run",
            "disable-background-networking",
            "disable-component-update",
            "disable-sync",
            f"user-data-dir={folder}",
        ):
            options.add_argument(f"--{flag}")
        logs = {"browser": "ALL", "performance": "ALL"}
        options.set_capability("goog:loggingPrefs", logs)
        found = webdriver.Chrome(options=options, service=Service(driver))
        found.set_page_load_timeout(120)
        try:
            yield found
        finally:
            found.quit()
