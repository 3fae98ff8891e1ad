"""Write the versions that simbias is known to work with, where uv and pip find them.

    python tools/known_good.py             # what pyproject.toml has, and what it lacks
    python tools/known_good.py --newest    # the newest of everything

The one place is the table `constraint-dependencies` of pyproject.toml; constraints.txt
is a copy for pip.  Then run the tests, and change by hand in the table what must be
older.  Needs uv and a package index.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).parent.parent
HEADER = """\
# Versions simbias is known to work with: pip install -c constraints.txt .
# Written by tools/known_good.py from pyproject.toml.
"""
# From here on Python takes what is newest: these versions may have no wheels for it.
UNKNOWN_PYTHON = "3.15"
_BEYOND = re.compile(rf"python_(?:full_)?version >= '{UNKNOWN_PYTHON}'")
# Those of an accelerator follow from that of jax.
LEFT_OUT = ("jax-cuda", "nvidia-", "libtpu", "hatchling")
NEITHER = ("cuda12", "cuda13", "tpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--newest", action="store_true")
    project = (ROOT / "pyproject.toml").read_text()
    start = without_versions(project) if parser.parse_args().newest else project
    project = with_table(project, "constraint-dependencies", known(start))
    project = with_table(project, "build-constraint-dependencies", builders(start))
    (ROOT / "pyproject.toml").write_text(project)
    (ROOT / "constraints.txt").write_text(constraints(project))


def constraints(project: str) -> str:
    """The text of constraints.txt that belongs to one of pyproject.toml."""
    lines = tomllib.loads(project)["tool"]["uv"]["constraint-dependencies"]
    return HEADER + "".join(f"{line}\n" for line in lines)


def without_versions(project: str) -> str:
    """The text of pyproject.toml with nothing held."""
    empty = with_table(project, "constraint-dependencies", [])
    return with_table(empty, "build-constraint-dependencies", [])


def with_table(project: str, name: str, lines: list[str]) -> str:
    """The text of pyproject.toml with other lines in one of uv's tables."""
    table = "".join(f'    "{line}",\n' for line in lines)
    pattern = rf"(?m)^{name} = \[\n(?:    .*\n)*\]\n"
    new, count = re.subn(pattern, lambda _: f"{name} = [\n{table}]\n", project)
    if count != 1:
        raise ValueError(f"pyproject.toml: expected one table `{name}`, found {count}.")
    return new


def known(project: str) -> list[str]:
    """What uv resolves for every Python that simbias supports, one line each."""
    extras = tomllib.loads(project)["project"]["optional-dependencies"]
    chosen = [f"--extra={name}" for name in extras if name not in NEITHER]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "pyproject.toml").write_text(project)
        plain = ("--no-hashes", "--no-annotate", "--no-header", "--no-emit-project")
        out = uv("export", *plain, "--all-groups", *chosen, folder=folder)
    is_kept = lambda line: not line.startswith(LEFT_OUT) and not _BEYOND.search(line)
    return [held(line) for line in out.splitlines() if is_kept(line)]


def builders(project: str) -> list[str]:
    """What uv resolves for building the package."""
    document = tomllib.loads(project)
    asked = "\n".join(document["build-system"]["requires"])
    held_now = "\n".join(document["tool"]["uv"]["build-constraint-dependencies"])
    plain = ("--no-annotate", "--no-header", "--universal", "--python-version=3.11")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "asked.txt").write_text(asked)
        pathlib.Path(folder, "held.txt").write_text(held_now)
        files = ("asked.txt", "--constraint=held.txt")
        out = uv("pip", "compile", "--quiet", *plain, *files, folder=folder)
    return [held(line) for line in out.splitlines() if not _BEYOND.search(line)]


def held(line: str) -> str:
    """`name==version ; marker`, for the Pythons it is meant for.

    Of its marker only the clauses on Python: what no platform asks for holds nothing.
    """
    requirement, _, marker = (part.strip() for part in line.partition(";"))
    clauses = re.findall(r"python_(?:full_)?version ([<>]=?) '(3\.\d+)'", marker)
    if not any(sign.startswith("<") for sign, _ in clauses):
        clauses.append(("<", UNKNOWN_PYTHON))
    clauses = [f"python_version {sign} '{python}'" for sign, python in clauses]
    return f"{requirement} ; {' and '.join(clauses)}"


def uv(*arguments: str, folder: str) -> str:
    """Output of uv, run in a folder."""
    return subprocess.run(
        ["uv", *arguments], cwd=folder, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


if __name__ == "__main__":
    main()
