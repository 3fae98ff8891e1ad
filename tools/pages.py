"""Write what of README and docs follows from experiments and stored results.

    simbias check NAME --json FILE
    python tools/pages.py FILE

Every theme has a page, docs/THEME/README.md, of what its experiments say of
themselves.  On other pages what stands between `<!-- table: NAME -->` and
`<!-- end -->` is replaced: `themes` has a line for every theme, `contents` one with its
pages, `phenomena` one for every experiment, `gallery` a picture, and `nine` small ones
of a few, `faults` what was done to runs on engines, `times` what the whole check took
and found; `claims NAME` is what the last check of an experiment has seen, `claims NAME
PRESET` that of another size, and `ledger` the same by papers and their statements.
Files that are named are such checks, or the `claims.json` of a run; they are kept
first, an experiment a file, under benchmarks/results/check_PRESET.  Where nothing else
is said, tables are of the size "quick".  A test keeps the pages current.
"""

import ast
import collections
import html
import json
import pathlib
import re
import sys
from typing import Any

from faults import faults
from formulas import is_formula, unindented
from speeds import speeds
from times import times

from simbias.ledger.paper import Paper, Statement, Tried, papers
from simbias.ledger.stored import Stored, stored

ROOT = pathlib.Path(__file__).parent.parent
CHECKED = ROOT / "benchmarks" / "results" / "check_quick"
EXPERIMENTS = ROOT / "simbias" / "experiments"
# Small pictures for the README, in rows of three.
NINE = (
    "threshold",
    "condensation",
    "early_alignment",
    "spectral_bias",
    "bias_matrix",
    "distributional",
    "deep_linear",
    "slabs",
    "low_rank_embeddings",
)
# Claims that are shown of a statement, before the rest is counted.
MOST = 6
_TABLE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> dict[pathlib.Path, str]:
    """The text of every page that has a table, by its path."""
    checked = {path.stem: json.loads(path.read_text()) for path in CHECKED.iterdir()}
    out = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()
        if _TABLE.search(text):
            out[path] = _TABLE.sub(lambda found: _filled(found, checked), text)
    for folder in _themes_of_experiments():
        out[ROOT / "docs" / folder.name / "README.md"] = _theme(folder, checked)
    return out


def _themes_of_experiments() -> list[pathlib.Path]:
    return [f for f in sorted(EXPERIMENTS.glob("*/")) if [*f.glob("[!_]*.py")]]


def _files() -> dict[str, list[pathlib.Path]]:
    """Every theme and the files of its experiments."""
    return {f.name: sorted(f.glob("[!_]*.py")) for f in _themes_of_experiments()}


def _filled(found: re.Match[str], checked: dict[str, Any]) -> str:
    kind, _, name = found[2].partition(" ")
    tables = {
        "themes": _themes,
        "contents": _contents,
        "phenomena": _phenomena,
        "gallery": _gallery,
        "nine": _nine,
        "ledger": _ledger,
        "faults": faults,
        "speeds": lambda _: speeds(name),
        "times": lambda checked: times(_files(), checked),
    }
    if kind in tables:
        return f"{found[1]}{tables[kind](checked)}{found[3]}"
    name, _, preset = name.partition(" ")
    table = _claims(stored()[name, preset] if preset else checked[name])
    return f"{found[1]}{table}{found[3]}"


def _themes(checked: dict[str, Any]) -> str:
    """For the README: each experiment leads to its page."""
    lines = ["| theme | `simbias run …` | claims hold |", "|---|---|---|"]
    for folder in _themes_of_experiments():
        names = [path.stem for path in sorted(folder.glob("[!_]*.py"))]
        title = f"[{_name(folder)}](docs/{folder.name}/README.md)"
        shown = ", ".join(f"[`{name}`](docs/{_page(name)})" for name in names)
        lines.append(f"| {title} | {shown} | {_tally(names, checked)} |")
    return "".join(f"{line}\n" for line in lines)


def _contents(_: dict[str, Any]) -> str:
    """For a page beside the others: each theme with its pages."""
    lines = ["| theme | pages |", "|---|---|"]
    for folder in _themes_of_experiments():
        pages = [f"[{t}]({folder.name}/{file})" for file, t in _pages_of(folder)]
        shown = ", ".join(pages)
        lines.append(f"| [{_name(folder)}]({folder.name}/README.md) | {shown} |")
    return "".join(f"{line}\n" for line in lines)


def _theme(folder: pathlib.Path, checked: dict[str, Any]) -> str:
    """The page of a theme: question, figure, claims and command of every experiment."""
    files = sorted(folder.glob("[!_]*.py"))
    lines = [f"# {_name(folder)}", ""]
    lines += [
        "<!-- written by tools/pages.py from docstrings and stored checks -->",
        "",
    ]
    lines += [_markdown(_said(folder / "__init__.py").partition("\n\n")[2]), ""]
    lines += ["Pages with settings, numbers, and what a reader must not conclude:", ""]
    lines += [f"* [{title}]({file})" for file, title in _pages_of(folder)]
    lines += ["", "What its experiments say of themselves, and what was seen:", ""]
    for path in files:
        lines += _one(path, checked.get(path.stem, {"claims": []}))
    text = "\n".join(lines).rstrip() + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


def _one(path: pathlib.Path, seen: dict[str, Any]) -> list[str]:
    """An experiment on the page of its theme."""
    name, folder = path.stem, path.parent.name
    title, _, said = _said(path).partition("\n\n")
    page = _page(name).partition("/")[2]
    lines = [f"## {name}", "", f"**{_markdown(title)}**", ""]
    if (ROOT / "docs" / folder / f"{name}.png").exists():
        lines += [f"[![{name}]({name}.png)]({page})", ""]
    lines += [_markdown(said), ""]
    lines += [*_command(name), ""]
    if seen["claims"]:
        tally = f"{_tally([name], {name: seen})} claims hold"
        lines += ['<details markdown="1">', f"<summary>{tally}</summary>", ""]
        lines += [_claims(seen), "</details>", ""]
    return lines


def _command(name: str) -> list[str]:
    """How it is run; the comment is for `tests/blocks.py`."""
    said = "<!-- elsewhere: tests/test_registry.py runs all -->"
    return [said, "```", f"uv run simbias run {name}", "```"]


def _name(folder: pathlib.Path) -> str:
    """What a theme is called."""
    return _said(folder / "__init__.py").partition("\n\n")[0].rstrip(".")


def _pages_of(folder: pathlib.Path) -> list[tuple[str, str]]:
    """File and title of every page that was written by hand."""
    files = sorted((ROOT / "docs" / folder.name).glob("*.md"))
    return [
        (file.name, file.read_text().partition("\n")[0].removeprefix("# "))
        for file in files
        if file.name != "README.md"
    ]


def _markdown(said: str) -> str:
    """A docstring for a page: formulas stand apart, signs are no mark-up."""
    paragraphs = []
    for paragraph in said.split("\n\n"):
        if is_formula(paragraph) or paragraph.startswith("    "):
            block = unindented(paragraph).split("\n")
            paragraphs.append("\n".join(f"    {line}" for line in block))
        else:
            parts = re.split(r"(`[^`]*`)", paragraph)
            signs = lambda part: re.sub(
                r"([*_|\[\]])", r"\\\1", html.escape(part, False)
            )
            parts[::2] = map(signs, parts[::2])
            paragraphs.append("".join(parts))
    return "\n\n".join(paragraphs)


def _as_text(said: str) -> str:
    """With the signs that would be mark-up shown as they are."""
    return re.sub(r"([*_|\[\]])", r"\\\1", html.escape(said, quote=False))


def _phenomena(checked: dict[str, Any]) -> str:
    """For a page beside the others."""
    lines = [
        "| `simbias run …` | what it shows | after | members | claims hold |",
        "|---|---|---|---|---|",
    ]
    for path in sorted(EXPERIMENTS.glob("*/[!_]*.py")):
        name, said = path.stem, _said(path)
        title = said.partition("\n")[0].rstrip(".")
        members = checked.get(name, {"members": 0})["members"]
        first = f"[`{name}`]({_page(name)}) | {title} | {_source(said)}"
        lines.append(f"| {first} | {members} | {_tally([name], checked)} |")
    return "".join(f"{line}\n" for line in lines)


def _gallery(checked: dict[str, Any]) -> str:
    """For a page beside the others: theme by theme, experiment by experiment."""
    lines = []
    for folder in _themes_of_experiments():
        lines += [f"## {_name(folder)}", ""]
        for path in sorted(folder.glob("[!_]*.py")):
            name, title = path.stem, _said(path).partition("\n")[0]
            image, page = f"{folder.name}/{name}.png", _page(name)
            claims = f"[{_tally([name], checked)} claims hold]({page})"
            lines += [f"### {name}", "", f"{title} {claims}.", ""]
            lines += [*_command(name), ""]
            lines += [f"[![{name}]({image})]({page})", ""]
    return "".join(f"{line}\n" for line in lines)


def _nine(_: dict[str, Any]) -> str:
    """Pictures that lead to the pages of their experiments."""
    themes = {path.stem: path.parent.name for path in EXPERIMENTS.glob("*/[!_]*.py")}
    image = lambda name: (
        f'<a href="docs/{_page(name)}"><img src="docs/{themes[name]}/{name}.png" '
        f'width="270" alt="{_title(themes[name], name)}"></a>'
    )
    rows = [NINE[i : i + 3] for i in range(0, len(NINE), 3)]
    cells = ["".join(f"<td>{image(name)}</td>" for name in row) for row in rows]
    lines = ["<table>", *(f"<tr>{cell}</tr>" for cell in cells), "</table>"]
    return "".join(f"{line}\n" for line in lines)


def _ledger(_: dict[str, Any]) -> str:
    """Paper by paper, statement by statement."""
    known, checks = papers().values(), stored()
    every = [statement for paper in known for statement in paper.statements]
    left = sum(bool(statement.missing) for statement in every)
    beside = sum(len(paper.beside) for paper in known)
    lines = [
        f"{len(known)} papers, {len(every)} statements: {len(every) - left} are looked "
        f"at, {left} are missing. {beside} things beside them, which no paper says, "
        "are listed and not counted.",
        "",
        "| paper | statements | missing | claims about them that hold |",
        "|---|---|---|---|",
    ]
    for paper in sorted(known, key=lambda paper: paper.authors):
        seen = {
            (one.experiment, one.preset, claim["statement"]): claim
            for statement in paper.statements
            for one in statement.tried
            for claim in _seen(one, checks)
        }
        tally = _tally([paper.key], {paper.key: {"claims": [*seen.values()]}})
        gone = sum(bool(statement.missing) for statement in paper.statements)
        name = f"[{_as_text(paper.authors)}](#{paper.key.replace('_', '-')})"
        lines.append(f"| {name} | {len(paper.statements)} | {gone or ''} | {tally} |")
    for paper in sorted(known, key=lambda paper: paper.authors):
        lines += ["", *_of_paper(paper, checks)]
    return "".join(f"{line}\n" for line in lines)


def _seen(one: Tried, checks: Stored) -> list[dict[str, Any]]:
    """The claims about a statement, of which some must be stored."""
    claims = one.seen(checks)
    if not claims:
        raise SystemExit(f"nothing is stored of {one}")
    return claims


def _of_paper(paper: Paper, checks: Stored) -> list[str]:
    """A section; its title is the key, so that a link to it is short."""
    lines = [f"## {paper.key.replace('_', ' ')}", ""]
    lines += [f"{_as_text(paper.paper)}, {paper.source}. From: {paper.read}.", ""]
    lines += ["| statement | it says | looked at by | seen |", "|---|---|---|---|"]
    return lines + [
        row
        for statement in (*paper.statements, *paper.beside)
        for row in _of_statement(statement, checks)
    ]


def _of_statement(statement: Statement, checks: Stored) -> list[str]:
    first = f"| {_as_text(statement.number)} | {_as_text(statement.says)} |"
    if statement.missing:
        return [f"{first} **missing** | {_as_text(statement.missing)} |"]
    lines = []
    for one in statement.tried:
        order = ("fails", "undecided", "holds", "not applicable")
        claims = sorted(_seen(one, checks), key=lambda c: order.index(c["verdict"]))
        shown = [_one_claim(claim) for claim in claims[:MOST]]
        rest = collections.Counter(claim["verdict"] for claim in claims[MOST:])
        shown += [f"and {count} more: {verdict}" for verdict, count in rest.items()]
        command = f"[`{one.command(checks)}`]({_page(one.experiment)})"
        size = f"{one.preset}, {one.setting}"
        lines.append(f"{first} {command}, {size} | {'<br>'.join(shown)} |")
        first = "| | |"
    return lines


def _one_claim(claim: dict[str, Any]) -> str:
    needs = f" (needs {_as_text(claim['needs'])})" if claim["needs"] else ""
    seen = f"{_value(claim)}, **{claim['verdict']}**{needs}"
    return f"{_as_text(claim['statement'])}: {seen}"


def _title(theme: str, name: str) -> str:
    said = _said(EXPERIMENTS / theme / f"{name}.py")
    return html.escape(said.partition("\n")[0])


def _said(path: pathlib.Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def _tally(names: list[str], checked: dict[str, Any]) -> str:
    """Of the claims that apply."""
    claims = [c for name in names for c in checked.get(name, {"claims": []})["claims"]]
    verdicts = [c["verdict"] for c in claims if c["verdict"] != "not applicable"]
    return f"{verdicts.count('holds')} of {len(verdicts)}"


def _source(said: str) -> str:
    """Who published it: the reference up to its number."""
    reference = " ".join(said.partition("Reference:")[2].split())
    found = re.match(r".*?arXiv:[\d.]+\d", reference)
    return found[0] if found else reference.partition(".")[0]


def _page(name: str) -> str:
    """The page that runs an experiment first of all, among those of themes."""
    first, docs = {}, ROOT / "docs"
    for path in docs.glob("*/[!R]*.md"):
        found = re.search(rf"simbias run {name}\b", path.read_text())
        if found:
            first[path.relative_to(docs).as_posix()] = found.start()
    if not first:
        raise SystemExit(f"no page in docs/*/ has `simbias run {name}`")
    return min(first, key=lambda page: first[page])


def _claims(one: dict[str, Any]) -> str:
    lines = ["| claim | seen | band | |", "|---|---|---|---|"]
    for claim in one["claims"]:
        low, high = (_number(end) for end in claim["band"])
        statement, seen = claim["statement"].replace("|", "\\|"), _value(claim)
        lines.append(f"| {statement} | {seen} | {low} … {high} | {claim['verdict']} |")
    return "".join(f"{line}\n" for line in lines)


def _value(claim: dict[str, Any]) -> str:
    """As seen, with its interval if it has one."""
    seen = _number(claim["value"])
    if (claim["low"], claim["high"]) != (claim["value"], claim["value"]):
        seen += f" [{_number(claim['low'])}, {_number(claim['high'])}]"
    return seen


def _number(value: float | None) -> str:
    return "open" if value is None else f"{value:.4g}"


def keep(file: pathlib.Path) -> None:
    """Every experiment of a check, or of one run, in a file of its own, by its size."""
    found = json.loads(file.read_text())
    for one in found if isinstance(found, list) else [found]:
        text = json.dumps(one, indent=1, ensure_ascii=False, allow_nan=False)
        folder = CHECKED.with_name(f"check_{one['preset']}")
        folder.mkdir(exist_ok=True)
        (folder / f"{one['experiment']}.json").write_text(f"{text}\n")


def main() -> None:
    for file in sys.argv[1:]:
        keep(pathlib.Path(file))
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
