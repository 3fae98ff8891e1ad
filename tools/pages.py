"""Write what of README and docs follows from experiments and stored results.

    simbias check NAME --json FILE
    python tools/pages.py FILE

Every theme has a page, docs/THEME/README.md, of what its experiments say of
themselves.  On other pages what stands between `<!-- table: NAME -->` and
`<!-- end -->` is replaced: `themes` has a line for every theme, `contents` one with its
pages, `pictures` a small figure of every theme, `phenomena` a line for every
experiment, `gallery` a small figure of each, `faults` what was done to runs on
engines, `times` what the whole check took and found, `decided KIND` what more seeds
decide; `claims NAME` is what the last check of an experiment has seen, `claims NAME
PRESET` that of another size or of a variant, `ledger` the same by papers and their
statements, and `recent YEAR` those of papers since that year.
Files that are named are such checks, or the `claims.json` of a run; they are kept
first, a run a file, under benchmarks/results/check_SIZE.  Where nothing else is said,
tables are of the size "quick".  A test keeps the pages current.
"""

import ast
import html
import json
import pathlib
import re
import sys
from typing import Any

from claims_shown import command_of, page_of, runs_of, table, tally
from faults import faults
from formulas import is_formula, unindented
from literature import literature, recent
from open_claims import open_claims
from speeds import speeds
from times import times

from simbias.ledger.stored_checks import stored_checks
from simbias.preset_names import run_name, size_of

ROOT = pathlib.Path(__file__).parent.parent
CHECKED = ROOT / "benchmarks" / "results" / "check_quick"
EXPERIMENTS = ROOT / "simbias" / "experiments"
# The experiment of each theme that the README names and the first page shows.
EXAMPLES = {
    "alignment": "early_alignment",
    "asymptotics": "population",
    "boolean": "parity",
    "deep": "sliding_share",
    "interpolation": "threshold",
    "layers": "mode_connectivity",
    "linear": "deep_linear",
    "margins": "max_margin",
    "matrix": "bias_matrix",
    "neuron_groups": "condensation",
    "order": "distributional",
    "orthogonality": "orthogonal",
    "rank": "low_rank_embeddings",
    "sensitivity": "grokking",
    "shortcuts": "slabs",
    "spectrum": "spectral_bias",
}
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
        "pictures": _pictures,
        "ledger": lambda _: literature(),
        "recent": lambda _: recent(name),
        "faults": faults,
        "speeds": lambda _: speeds(name),
        "decided": lambda checked: open_claims(name, checked),
        "times": lambda checked: times(_files(), checked),
    }
    if kind in tables:
        return f"{found[1]}{tables[kind](checked)}{found[3]}"
    name, _, preset = name.partition(" ")
    one = stored_checks()[name, preset] if preset else checked[name]
    return f"{found[1]}{table(one)}{found[3]}"


def _themes(_: dict[str, Any]) -> str:
    """For the README: each theme with its size and one of its experiments."""
    lines = ["| theme | experiments | for example |", "|---|---|---|"]
    for folder in _themes_of_experiments():
        title = f"[{_name(folder)}](docs/{folder.name}/README.md)"
        size = len([*folder.glob("[!_]*.py")])
        example = f"`simbias run {EXAMPLES[folder.name]}`"
        lines.append(f"| {title} | {size} | {example} |")
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
    lines += ["Pages with settings, numbers, controls, and what not to conclude:", ""]
    lines += [f"* [{title}]({file})" for file, title in _pages_of(folder)]
    lines += ["", "The experiments of this theme, and what they found:", ""]
    for path in files:
        lines += _one(path, checked)
    text = "\n".join(lines).rstrip() + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


def _one(path: pathlib.Path, checked: dict[str, Any]) -> list[str]:
    """An experiment on the page of its theme, with its variants."""
    name, folder = path.stem, path.parent.name
    title, _, said = _said(path).partition("\n\n")
    lines = [f"## {name}", "", f"**{_markdown(title)}**", ""]
    lines += [*_image(name, folder), _markdown(said), "", *_run(name, checked)]
    for run in runs_of([name])[1:]:
        lines += [f"### {_words(run)}", "", *_image(run, folder), *_run(run, checked)]
    return lines


def _image(run: str, folder: str) -> list[str]:
    """The figure of a run, if there is one, which leads to its page."""
    if not (ROOT / "docs" / folder / f"{run}.png").exists():
        return []
    page = page_of(run).partition("/")[2]
    return [f"[![{_words(run)}]({run}.png)]({page})", ""]


def _run(run: str, checked: dict[str, Any]) -> list[str]:
    """The command of a run, and what was seen."""
    lines, seen = [*_command(run), ""], checked.get(run, {"claims": []})
    if seen["claims"]:
        held = f"{tally([run], checked)} claims supported"
        lines += ['<details markdown="1">', f"<summary>{held}</summary>", ""]
        lines += [table(seen), "</details>", ""]
    return lines


def _words(run: str) -> str:
    """What a run is called: its command without `simbias run`."""
    return command_of(run).removeprefix("simbias run ")


def _command(run: str) -> list[str]:
    """How it is run; the comment is for `tests/blocks.py`."""
    said = "<!-- elsewhere: tests/test_registry.py runs all -->"
    return [said, "```", f"uv run {command_of(run)}", "```"]


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


def _phenomena(checked: dict[str, Any]) -> str:
    """For a page beside the others."""
    lines = [
        "| `simbias run …` | what it shows | after | members | claims supported |",
        "|---|---|---|---|---|",
    ]
    for path in sorted(EXPERIMENTS.glob("*/[!_]*.py")):
        name, said = path.stem, _said(path)
        title = said.partition("\n")[0].rstrip(".")
        for run in runs_of([name]):
            members = checked.get(run, {"members": 0})["members"]
            first = f"[`{_words(run)}`]({page_of(run)}) | {title} | {_source(said)}"
            lines.append(f"| {first} | {members} | {tally([run], checked)} |")
            title = "its variant"
    return "".join(f"{line}\n" for line in lines)


def _gallery(checked: dict[str, Any]) -> str:
    """For a page beside the others: theme by theme, experiment by experiment."""
    lines = []
    for folder in _themes_of_experiments():
        cells = []
        for path in sorted(folder.glob("[!_]*.py")):
            title = html.escape(_said(path).partition("\n")[0])
            for run in runs_of([path.stem]):
                if not (ROOT / "docs" / folder.name / f"{run}.png").exists():
                    continue  # a variant that was not run
                cells.append(_thumbnail(run, path, title, tally([run], checked)))
                title = f"A variant of {path.stem}."
        lines += [f"## {_name(folder)}", "", *_grid(cells), ""]
    return "".join(f"{line}\n" for line in lines)


def _thumbnail(run: str, path: pathlib.Path, title: str, claims: str) -> str:
    """A small figure that leads to its page, with a sentence and the source."""
    page, image = page_of(run), f"{path.parent.name}/{run}.png"
    source = f"../{path.relative_to(ROOT)}"
    return (
        f'<a href="{page}"><img src="{image}" width="250" loading="lazy" '
        f'alt="Figure of {_words(run)}"></a><br><b>{_words(run)}</b><br>{title} '
        f'<a href="{page}">{claims} claims supported</a>, '
        f'<a href="{source}">source</a>.'
    )


def _grid(cells: list[str]) -> list[str]:
    """Cells of HTML in rows of three."""
    rows = [cells[i : i + 3] for i in range(0, len(cells), 3)]
    shown = ["".join(f'<td valign="top">{one}</td>' for one in row) for row in rows]
    return ["<table>", *(f"<tr>{row}</tr>" for row in shown), "</table>"]


def _pictures(_: dict[str, Any]) -> str:
    """For the first page: a figure of every theme, in rows of three, with its name."""
    image = lambda theme, name: (
        f'<a href="{page_of(name)}"><img src="{theme}/{name}.png" '
        f'width="270" alt="{_title(theme, name)}"></a>'
        f'<br><a href="{theme}/README.md">{_name(EXPERIMENTS / theme)}</a>'
    )
    images = [image(theme, name) for theme, name in EXAMPLES.items()]
    return "".join(f"{line}\n" for line in _grid(images))


def _title(theme: str, name: str) -> str:
    said = _said(EXPERIMENTS / theme / f"{name}.py")
    return html.escape(said.partition("\n")[0])


def _said(path: pathlib.Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def _source(said: str) -> str:
    """Who published it: the reference up to its number."""
    reference = " ".join(said.partition("Reference:")[2].split())
    found = re.match(r".*?arXiv:[\d.]+\d", reference)
    return found[0] if found else reference.partition(".")[0]


def keep(file: pathlib.Path) -> None:
    """Every run of a check, or one run, in a file of its own, by its size."""
    found = json.loads(file.read_text())
    for one in found if isinstance(found, list) else [found]:
        text = json.dumps(one, indent=1, ensure_ascii=False, allow_nan=False)
        folder = CHECKED.with_name(f"check_{size_of(one['preset'])}")
        folder.mkdir(exist_ok=True)
        name = run_name(one["experiment"], one["preset"])
        (folder / f"{name}.json").write_text(f"{text}\n")


def main() -> None:
    for file in sys.argv[1:]:
        keep(pathlib.Path(file))
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
