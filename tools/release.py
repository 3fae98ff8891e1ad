"""Is this what should be released?  Everything that can be checked before a tag.

    python tools/release.py            # of the version in pyproject.toml
    python tools/release.py --draft    # while the changes say "not yet released"

Builds wheel and source, compares what is in them with what git has, installs the wheel
and its extras into an empty environment, runs an experiment there and reads it with
xarray alone.  Needs uv, git
and a package index.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parent.parent
# Not of a release, though git has them.
LEFT_OUT = (".ci/", ".github/", ".gitignore", ".pre-commit-config.yaml")
# Extras of a gigabyte each, of which no two go together: they are resolved alone.
ACCELERATORS = ("cuda12", "cuda13", "tpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draft", action="store_true")
    parsed = parser.parse_args()
    wrong = [*versions(parsed.draft), *tree()]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        run("uv", "build", "--out-dir", out, ROOT)
        wheel, source = next(out.glob("*.whl")), next(out.glob("*.tar.gz"))
        wrong += [*contents(wheel, source)]
        wrong += [*installed(wheel, out / "venv")]
    for line in wrong:
        print(f"wrong: {line}")
    if wrong:
        sys.exit(1)
    print("All is as it should be.  Left: tag, upload, and a new heading in CHANGELOG.")


def run(*command: object) -> str:
    print("$", *command, flush=True)
    words = [str(word) for word in command]
    done = subprocess.run(
        words, check=True, cwd=ROOT, text=True, stdout=subprocess.PIPE
    )
    return str(done.stdout)


def project() -> dict:
    """What pyproject.toml says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def version() -> str:
    """The one place is pyproject.toml."""
    return project()["version"]


def versions(is_draft: bool) -> Iterator[str]:
    """Where the version is repeated, and is another one."""
    cited = re.search(r"(?m)^version: (.*)$", (ROOT / "CITATION.cff").read_text())
    if not cited or cited[1] != version():
        yield f"CITATION.cff has another version than {version()}"
    heading = re.search(r"(?m)^## (\S+), (.*)$", (ROOT / "CHANGELOG.md").read_text())
    if not heading or heading[1] != version():
        yield f"CHANGELOG.md does not begin with {version()}"
    elif not is_draft and not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]):
        yield f"CHANGELOG.md: {version()} has no date, but {heading[2]!r}"


def tree() -> Iterator[str]:
    """What git does not have."""
    if said := run("git", "status", "--porcelain").strip():
        yield f"not committed: {said}"


def contents(wheel: pathlib.Path, source: pathlib.Path) -> Iterator[str]:
    """Files too many and too few."""
    files = {f for f in run("git", "ls-files").split("\n") if f}
    package = {f for f in files if f.startswith("simbias/")}
    with zipfile.ZipFile(wheel) as packed:
        names = {n for n in packed.namelist() if ".dist-info/" not in n}
    yield from _compared("the wheel", names, package)
    with tarfile.open(source) as packed:
        parts = [m.name.partition("/")[2] for m in packed.getmembers() if m.isfile()]
    wanted = {f for f in files if not f.startswith(LEFT_OUT)}
    yield from _compared("the source", {*parts} - {"PKG-INFO", ".gitignore"}, wanted)


def _compared(where: str, found: set[str], wanted: set[str]) -> Iterator[str]:
    yield from (f"{where} lacks {name}" for name in sorted(wanted - found))
    yield from (f"{where} has {name}, git has not" for name in sorted(found - wanted))


def installed(wheel: pathlib.Path, place: pathlib.Path) -> Iterator[str]:
    """What a user sees who has nothing but the wheel."""
    run("uv", "venv", "-q", place)
    held = ROOT / "constraints.txt"
    install = ("uv", "pip", "install", "-q", "-p", place, "-c", held)
    run(*install, wheel)
    command = place / "bin" / "simbias"
    if (said := run(command, "--version").strip()) != version():
        yield f"the command says {said}"
    run(command, "doctor")
    out = place / "run"
    run(command, "run", "three_points", "--preset", "smoke", "--out", out)
    if not (out / "figure.png").exists():
        yield "the experiment drew nothing"
    read = f"import xarray; xarray.open_zarr({str(out / 'run.zarr')!r}).load()"
    run(place / "bin" / "python", "-W", "error", "-c", read)
    every = project()["optional-dependencies"]
    light = ",".join(name for name in every if name not in ACCELERATORS)
    run(*install, f"simbias[{light}] @ {wheel.as_uri()}")
    for name in ACCELERATORS:
        run(*install, "--dry-run", f"simbias[{name}] @ {wheel.as_uri()}")


if __name__ == "__main__":
    main()
