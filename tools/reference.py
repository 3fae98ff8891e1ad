"""Pages of the reference: every public name of every room, to be read by mkdocstrings.

`tools/website.py` writes them; nothing here is kept in the repository.
"""

import ast
import html
import pathlib
import re

from stubs import ROOT as SOURCE

_IMPORT = re.compile(r"from (\.[\w.]+) import \(?\s*(\w+) as")
# Rooms and files, in the order of the pages.
NOUNS = ("losses", "claims", "experiment_presets", "drawn_from", "attacks", "errors")
_CORE = [
    f"simbias.{name}" for name in ("core", "dataset", "network", "wrapper", "flow")
]
# What verbs return.
RETURNED = (
    "simbias.films.film.Film",
    "simbias.verbs.member.Member",
    "simbias.verbs.simulate.Trajectory",
)
ROOMS = ("datasets", "networks", "flows", "measures", "stops")
_ROOT_PARTS = ("heading", "toc_entry")
OPEN = ("theory", "analysis", "figures")


def reference() -> dict[str, str]:
    """Name of a page -> its text."""
    out = {"nouns": _page("Nouns", "", [("", _CORE)], full=True)}
    out["verbs"] = _page("Verbs", _said("verbs"), [("", _verbs())])
    for room in ROOMS:
        themes = _of_stub(room)
        out[room] = _page(room.capitalize(), _said(room), themes, members=False)
    for name in ("losses", "claims"):
        places = [f"simbias.{name}"]
        out[name] = _page(name.capitalize(), "", [("", places)], full=True)
    for room in OPEN:
        out[room] = _page(room.capitalize(), _said(room), [("", _of_folder(room))])
    places = [f"simbias.{name}" for name in NOUNS if name not in out]
    said = "What a phenomenon of your own is made with, besides the rooms."
    out["making"] = _page("Making", said, [("", places)], full=True)
    return {"index": _index(out), **out}


def _index(pages: dict[str, str]) -> str:
    """Every name of every page, with the first line of its docstring."""
    lines = ["# Reference", "", "Every public name, page by page.", ""]
    for page, text in pages.items():
        title = text.partition("\n")[0].removeprefix("# ")
        lines += [f"## [{title}]({page}.md)", "", "| name | what it is |", "|---|---|"]
        for place in re.findall(r"^::: (.+)$", text, re.MULTILINE):
            for name, whole, said in _documented(place):
                lines.append(f"| [`{name}`][{whole}] | {_plain(said)} |")
        lines.append("")
    return "\n".join(lines)


def _documented(place: str) -> list[tuple[str, str, str]]:
    """Name, place and docstring of an object, or of all that a module has."""
    module = SOURCE.parent / f"{place.replace('.', '/')}.py"
    owner = place if module.exists() else place.rpartition(".")[0]
    path = SOURCE.parent / f"{owner.replace('.', '/')}.py"
    known = (ast.ClassDef, ast.FunctionDef)
    return [
        (node.name, f"{owner}.{node.name}", ast.get_docstring(node) or "")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, known) and not node.name.startswith("_")
        if owner == place or node.name == place.rpartition(".")[2]
    ]


def _plain(said: str) -> str:
    """The first line of a docstring, none of whose signs is markup."""
    line = html.escape(said.partition("\n")[0], quote=False)
    parts = re.split(r"(`[^`]*`)", line)
    parts[::2] = [re.sub(r"([*_\\\[\]~^])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts).replace("|", "&#124;")


def _verbs() -> list[str]:
    """What `simbias` itself offers that is no noun, no room and no part of one."""
    found = _IMPORT.findall((SOURCE / "__init__.pyi").read_text())
    left_out = (".core", ".flows", *(f".{name}" for name in NOUNS))
    names = [f"simbias{m}.{name}" for m, name in found if m not in left_out]
    return [*names, *RETURNED]


def _of_stub(room: str) -> list[tuple[str, list[str]]]:
    """By theme, which is a folder of the room."""
    themes: dict[str, list[str]] = {}
    for module, name in _IMPORT.findall((SOURCE / room / "__init__.pyi").read_text()):
        parts = module.strip(".").split(".")
        theme = parts[0] if len(parts) > 1 else ""
        themes.setdefault(theme, []).append(f"simbias.{room}{module}.{name}")
    return sorted(themes.items())


def _of_folder(room: str) -> list[str]:
    return [
        f"simbias.{room}.{path.stem}.{name}"
        for path in sorted((SOURCE / room).glob("[!_]*.py"))
        for name in _public(path)
    ]


def _public(path: pathlib.Path) -> list[str]:
    """Public classes and functions of a file, what it is named after first."""
    nodes = ast.parse(path.read_text()).body
    names = [n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    shown = [name for name in names if not name.startswith("_")]
    is_other = lambda name: name.lower() != path.stem.replace("_", "")
    return sorted(shown, key=lambda name: (is_other(name), name != path.stem))


def _said(room: str) -> str:
    """The docstring of a room."""
    folder = SOURCE / room / "__init__.py"
    return ast.get_docstring(ast.parse(folder.read_text())) or ""


def _page(
    title: str,
    said: str,
    themes: list[tuple[str, list[str]]],
    *,
    full: bool = False,
    members: bool = True,
) -> str:
    """A page of objects, with their members or not, or `full` ones of modules."""
    lines = [f"# {title}", "", said, ""]
    for theme, places in themes:
        level = 3 if theme else 2
        if theme:
            lines += [f"## {theme.replace('_', ' ').capitalize()}", ""]
        for place in places:
            lines += [f"::: {place}", "    options:"]
            if full and len(places) == 1:
                lines += [f"      show_root_{what}: false" for what in _ROOT_PARTS]
            else:
                lines += [f"      heading_level: {level}"]
            lines += [] if members else ["      members: false"]
            lines += [""]
    return "\n".join(lines)
