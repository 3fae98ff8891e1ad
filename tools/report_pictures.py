"""Write the two pictures of docs/report.md, of pages that a browser shows.

    simbias run threshold --preset smoke --seeds 20 --cell.n 8 20 60 200 --out runs/a
    simbias run stewart_snapshots --preset smoke --out runs/b
    python tools/report_pictures.py runs/a/report.html runs/b/report.html

Needs chromium and chromedriver, as the tests of the page do.
"""

import base64
import io
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Any

from PIL import Image

ASSETS = pathlib.Path(__file__).parent.parent / "docs" / "assets"
# In the second picture, the time at which all neurons that have grown point one way.
_TIME = 13.75
_AT_THAT_TIME = """
const slider = document.querySelector('#neurons-controls input');
const said = document.querySelector('#neurons-controls output');
for (let i = 0; i <= slider.max; i++) {
  slider.value = i;
  slider.dispatchEvent(new Event('input'));
  if (said.textContent === `t = ${arguments[0]}`) break;
}
const colours = document.querySelector('#neurons-controls select');
colours.value = 'end';
colours.dispatchEvent(new Event('change'));
"""


def main() -> None:
    desktop, phone = (pathlib.Path(word).resolve().as_uri() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = _browser(folder)
        _open(browser, desktop, width=1280, theme="light")
        _take(browser, ("header", "#closer"), "report.png")
        _open(browser, phone, width=390, theme="dark")
        browser.execute_script(_AT_THAT_TIME, _TIME)
        time.sleep(1)
        _take(browser, ("#member", "#neurons-figure"), "report_phone.png")
        browser.quit()


def _browser(folder: str) -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in ("headless", "no-sandbox", "disable-gpu", f"user-data-dir={folder}"):
        options.add_argument(f"--{flag}")
    driver = Service(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=driver)


def _open(browser: Any, url: str, *, width: int, theme: str) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(url)
    while (
        browser.execute_script("return document.documentElement.dataset.drawn") is None
    ):
        time.sleep(0.2)


def _take(browser: Any, between: tuple[str, str], name: str) -> None:
    """From the top of one element to the bottom of another."""
    first, last = (
        browser.execute_script(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.top + scrollY, box.bottom + scrollY, innerWidth]",
            one,
        )
        for one in between
    )
    top, bottom, width = max(first[0] - 8, 0), last[1] + 16, first[2]
    clip = {"x": 0, "y": top, "width": width, "height": bottom - top, "scale": 1}
    asked = {"captureBeyondViewport": True, "clip": clip}
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", asked)
    picture = Image.open(io.BytesIO(base64.b64decode(taken["data"])))
    picture.convert("RGB").quantize(256).save(ASSETS / name, optimize=True)


if __name__ == "__main__":
    main()
