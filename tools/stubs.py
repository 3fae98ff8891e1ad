"""Write what every room offers by a short name: `from simbias.measures import Margin`.

    python tools/stubs.py

A room loads nothing before it is asked for (SPEC 1, lazy_loader); its `__init__.pyi`
says what there is, for lazy_loader and for type checkers.  A test keeps them complete.
"""

import ast
import pathlib

ROOT = pathlib.Path(__file__).parent.parent / "simbias"
_WIDTH = 88
ROOMS = ("datasets", "flows", "measures", "networks", "stops", "workers")


def stubs() -> dict[pathlib.Path, str]:
    """The text of every stub, by its path."""
    out = {ROOT / room / "__init__.pyi": _of_room(ROOT / room) for room in ROOMS}
    out[ROOT / "figures" / "__init__.pyi"] = _of_figures(ROOT / "figures")
    room = ROOT / "experiments"
    themes = sorted(path.parent for path in room.glob("*/__init__.py"))
    lines = []
    for theme in themes:
        names = _public(theme)
        lines += [f"from .{theme.name} import {name} as {name}" for name in names]
        own = [f"from . import {name} as {name}" for name in names]
        out[theme / "__init__.pyi"] = _text(own)
    out[room / "__init__.pyi"] = _text(lines)
    return out


def _of_room(room: pathlib.Path) -> str:
    lines = []
    for path in sorted(room.rglob("*.py")):
        parts = path.relative_to(room).with_suffix("").parts
        if any(part.startswith("_") for part in parts):
            continue
        where = ".".join(parts)
        lines += [f"from .{where} import {name} as {name}" for name in _defined(path)]
    return _text(lines)


def _of_figures(room: pathlib.Path) -> str:
    """All of the room but functions named as their file.

    Importing `figures/band.py` sets `figures.band` to the module, so that the short
    name of its function would depend on what was imported before.
    """
    kinds = ast.FunctionDef | ast.ClassDef
    lines = []
    for file in _public(room):
        nodes = ast.parse((room / f"{file}.py").read_text()).body
        names = [node.name for node in nodes if isinstance(node, kinds)]
        names += [
            target.id
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name) and target.id.isupper()
        ]
        public = sorted(n for n in names if not n.startswith("_") and n != file)
        lines += [f"from .{file} import {name} as {name}" for name in public]
    return _text(lines)


def _public(folder: pathlib.Path) -> list[str]:
    names = (path.stem for path in folder.glob("*.py"))
    return sorted(name for name in names if not name.startswith("_"))


def _defined(path: pathlib.Path) -> list[str]:
    kinds = ast.FunctionDef | ast.ClassDef
    nodes = ast.parse(path.read_text()).body
    names = [node.name for node in nodes if isinstance(node, kinds)]
    # What a file is named after, in either spelling; else all that it has.
    named = [n for n in names if n.lower() == path.stem.replace("_", "")]
    named += [n for n in names if n == path.stem and n not in named]
    return sorted(n for n in named or names if not n.startswith("_"))


def _text(lines: list[str]) -> str:
    return "".join(f"{_wrapped(line)}\n" for line in lines)


def _wrapped(line: str) -> str:
    """As ruff would have it."""
    if len(line) <= _WIDTH:
        return line
    head, _, name = line.partition(" import ")
    return f"{head} import (\n    {name},\n)"


def main() -> None:
    for path, text in stubs().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
