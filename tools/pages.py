"""Write the tables of README and docs that follow from experiments and stored results.

    python tools/pages.py

What stands between `<!-- table: NAME -->` and `<!-- end -->` is replaced: `phenomena`
is the list of all, `claims NAME` what the last check of an experiment has seen
(`simbias check --preset quick --json benchmarks/results/check_quick.json`).  A test
keeps the pages current.
"""

import ast
import json
import pathlib
import re
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
CHECKED = ROOT / "benchmarks" / "results" / "check_quick.json"
_TABLE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_GENERAL = ("cluster.md", "testing.md")


def pages() -> dict[pathlib.Path, str]:
    """The text of every page that has a table, by its path."""
    checked = {one["experiment"]: one for one in json.loads(CHECKED.read_text())}
    out = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text()
        if _TABLE.search(text):
            out[path] = _TABLE.sub(lambda found: _filled(found, checked), text)
    return out


def _filled(found: re.Match[str], checked: dict[str, Any]) -> str:
    kind, _, name = found[2].partition(" ")
    table = _phenomena(checked) if kind == "phenomena" else _claims(checked[name])
    return f"{found[1]}{table}{found[3]}"


def _phenomena(checked: dict[str, Any]) -> str:
    lines = [
        "| `simbias run …` | what it shows | after | members | claims hold | page |",
        "|---|---|---|---|---|---|",
    ]
    for path in sorted((ROOT / "simbias" / "experiments").glob("*/[!_]*.py")):
        name, one = path.stem, checked[path.stem]
        said = ast.get_docstring(ast.parse(path.read_text())) or ""
        title = said.partition("\n")[0].rstrip(".")
        holds = sum(claim["verdict"] == "holds" for claim in one["claims"])
        seen = f"{one['members']} | {holds} of {len(one['claims'])}"
        page = f"[page](docs/{_page(name)})"
        lines.append(f"| `{name}` | {title} | {_source(said)} | {seen} | {page} |")
    return "".join(f"{line}\n" for line in lines)


def _source(said: str) -> str:
    """Who published it: the reference up to its number."""
    reference = " ".join(said.partition("Reference:")[2].split())
    found = re.match(r".*?arXiv:[\d.]+\d", reference)
    return found[0] if found else reference.partition(".")[0]


def _page(name: str) -> str:
    """The page that runs an experiment first of all."""
    first = {}
    for path in (ROOT / "docs").glob("*.md"):
        found = re.search(rf"simbias run {name}\b", path.read_text())
        if found and path.name not in _GENERAL:
            first[path.name] = found.start()
    return min(first, key=lambda page: first[page])


def _claims(one: dict[str, Any]) -> str:
    lines = ["| claim | seen | band | |", "|---|---|---|---|"]
    for claim in one["claims"]:
        low, high = (_number(end) for end in claim["band"])
        seen = _number(claim["value"])
        if (claim["low"], claim["high"]) != (claim["value"], claim["value"]):
            seen += f" [{_number(claim['low'])}, {_number(claim['high'])}]"
        statement = claim["statement"].replace("|", "\\|")
        lines.append(f"| {statement} | {seen} | {low} … {high} | {claim['verdict']} |")
    return "".join(f"{line}\n" for line in lines)


def _number(value: float | None) -> str:
    return "open" if value is None else f"{value:.4g}"


def main() -> None:
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
