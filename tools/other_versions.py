"""Run the tests with the newest and with the lowest direct versions; say what broke.

    python tools/other_versions.py [--python 3.11 3.12] [--resolution newest lowest]
        [--json FILE] [-- what pytest is given]

Each combination gets a copy of the tree, without the versions that pyproject.toml
holds, and an environment of its own.  Needs uv, a package index and the interpreters.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from xml.etree import ElementTree

from known_good import ROOT, without_versions

RESOLUTIONS = {"newest": "highest", "lowest": "lowest-direct", "known": "highest"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="+", default=["3.11", "3.12"])
    parser.add_argument(
        "--resolution", nargs="+", choices=RESOLUTIONS, default=["newest", "lowest"]
    )
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("pytest", nargs="*")
    options = parser.parse_args()
    rows = []
    for python in options.python:
        for resolution in options.resolution:
            rows.append(tested(python, resolution, options.pytest))
            print(described(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(any(row["broke"] for row in rows))


def tested(python: str, resolution: str, pytest: list[str]) -> dict:
    """Versions and counts of one run of the tests."""
    row = {"python": python, "resolution": resolution, "pytest": pytest}
    row |= {"versions": {}, "broke": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copied(folder)
        project = (folder / "pyproject.toml").read_text()
        if resolution != "known":
            (folder / "pyproject.toml").write_text(without_versions(project))
        uv = lambda *arguments: ran(folder, python, "uv", *arguments)
        sync = uv("sync", "--no-progress", f"--resolution={RESOLUTIONS[resolution]}")
        if sync.returncode:
            # Without the addresses of a package index.
            said = re.sub(r"\w+://\S+", "…", sync.stderr.strip())
            return {**row, "broke": {"uv sync": said[-1000:]}}
        # The tests look at the table too.
        (folder / "pyproject.toml").write_text(project)
        version = "import platform; print(platform.python_version())"
        row["python"] = uv("run", "--no-sync", "python", "-c", version).stdout.strip()
        row["versions"] = direct_versions(
            folder, uv("pip", "freeze", "--python=.venv").stdout
        )
        report = "--junitxml=report.xml"
        run = uv(
            "run", "--no-sync", "pytest", "-p", "no:cacheprovider", report, *pytest
        )
        if not (folder / "report.xml").exists():
            return {**row, "broke": {"pytest": (run.stdout + run.stderr)[-2000:]}}
        return {**row, **counted(folder / "report.xml")}


def copied(folder: pathlib.Path) -> None:
    """Put what git tracks, or would, into a folder."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def ran(
    folder: pathlib.Path, python: str, *command: str
) -> subprocess.CompletedProcess:
    """A command with the folder's own environment."""
    environment = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    environment |= {"UV_PYTHON": python, "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )


def direct_versions(folder: pathlib.Path, freeze: str) -> dict[str, str]:
    """Of what pyproject.toml names, the versions that were installed."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    asked = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    installed = dict(re.findall(r"(?m)^([\w.-]+)==(.+)$", freeze))
    names = [re.match(r"[\w.-]+", line)[0] for line in asked]
    return {name: installed[name] for name in names if name in installed}


def counted(report: pathlib.Path) -> dict:
    """How many passed, and the first line of what went wrong in each that did not."""
    suite = ElementTree.parse(report).getroot().find("testsuite")
    count = {name: int(suite.get(name)) for name in ("tests", "skipped")}
    broke = {}
    for case in suite.iter("testcase"):
        for fault in [*case.findall("failure"), *case.findall("error")]:
            name = f"{case.get('classname')}::{case.get('name')}"
            broke[name] = cause(fault)
    passed = count["tests"] - count["skipped"] - len(broke)
    return {"passed": passed, "skipped": count["skipped"], "broke": broke}


def cause(fault: ElementTree.Element) -> str:
    """One line; of a file that could not be imported the last that pytest marks."""
    marked = re.findall(r"(?m)^E +(.+)$", fault.text or "")
    message = fault.get("message", "").strip().splitlines() or marked or ["unknown"]
    is_import = message[0] == "collection failure" and marked
    return (marked[-1] if is_import else message[0])[:300]


def described(row: dict) -> str:
    """A line, and one for each thing that broke."""
    head = f"Python {row['python']}, {row['resolution']}: {row.get('passed', 0)} passed"
    return "\n".join(
        [head, *(f"  {name}: {what}" for name, what in row["broke"].items())]
    )


if __name__ == "__main__":
    main()
