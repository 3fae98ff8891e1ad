"""What the folders hold: a folder of components is its own registry.

A file `effective_width.py` holds the function `effective_width` or the class
`EffectiveWidth`; a file whose name starts with `_` holds helpers.
"""

import ast
import functools
import importlib
import importlib.metadata
import importlib.util
import pathlib
import pkgutil
import re
import types
from collections.abc import Iterable, Mapping
from typing import Any

import simbias.experiments
import simbias.flows
from simbias.errors import BadInput
from simbias.preset_names import SIZES, preset_of, size_of

# The entry points by which another package brings experiments: name -> module.
GROUP = "simbias.experiments"


def modules(package: types.ModuleType) -> dict[str, types.ModuleType]:
    """Name -> module, for every public file of a folder, sorted."""
    return {
        name: importlib.import_module(f"{package.__name__}.{place}")
        for name, place in _places(package).items()
    }


def component(module: types.ModuleType) -> Any:
    """The public object a file is named after.

    Raises:
        AttributeError: if the file breaks the rule.
    """
    name = module.__name__.rsplit(".", 1)[-1]
    camel = "".join(part.capitalize() for part in name.split("_"))
    for candidate in (name, camel):
        if candidate in vars(module):
            return vars(module)[candidate]
    raise AttributeError(f"{module.__name__} defines neither `{name}` nor `{camel}`.")


def experiments() -> dict[str, Any]:
    """Name -> module with `experiment`, `figure` and `claims`, for all of simbias."""
    return modules(simbias.experiments)


def experiment_names() -> list[str]:
    """Names of the experiments of simbias and of other packages; imports none."""
    return sorted({*_places(simbias.experiments), *_installed()})


def is_experiment(name: str) -> bool:
    """True for the name of an experiment of simbias, or of another package."""
    return name in _places(simbias.experiments) or name in _installed()


def experiment_module(name: str) -> Any:
    """The module of one experiment; no other is imported.

    Raises:
        ValueError: if several packages bring one of this name.
    """
    own = _places(simbias.experiments)
    if name in own:
        return importlib.import_module(f"{simbias.experiments.__name__}.{own[name]}")
    try:
        return _point(name).load()
    except BadInput:
        raise
    except Exception as error:  # of any kind: it is the code of others
        raise BadInput(
            f"`{name}` of another package cannot be loaded: {type(error).__name__}: "
            f"{error}"
        ) from error


def package_of(name: str) -> tuple[str, str] | None:
    """Name and version of the package that brings an experiment; None for simbias."""
    if name in _places(simbias.experiments):
        return None
    package = _point(name).dist
    return None if package is None else (package.name, package.version)


def titles() -> dict[str, str]:
    """Name -> first line of the docstring of every experiment; imports none of them."""
    own = pathlib.Path(simbias.experiments.__path__[0])
    places = _places(simbias.experiments)
    file = lambda place: own / (place.replace(".", "/") + ".py")
    out = {name: _title(file(place)) for name, place in places.items()}
    for name, points in _installed().items():
        if name not in out:
            package = points[0].dist
            title = _title(_source(points[0].module))
            out[name] = f"{title} [{package.name if package else 'elsewhere'}]".strip()
    return out


def experiment_file(name: str) -> pathlib.Path | None:
    """Where the source of an experiment lies; it is not imported."""
    if place := _places(simbias.experiments).get(name):
        own = pathlib.Path(simbias.experiments.__path__[0])
        return own / (place.replace(".", "/") + ".py")
    return _source(_installed()[name][0].module) if name in _installed() else None


def variants(name: str) -> list[str]:
    """Names of the variants of an experiment, read off its file; it is not imported."""
    file = experiment_file(name)
    for node in ast.walk(_presets_in(file)) if file else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "presets":
            names = [one.arg for one in node.keywords if one.arg]
            return [k for k in names if k not in SIZES and size_of(k) == "quick"]
    return []


def preset_names(name: str) -> list[str]:
    """Presets of an experiment; it is not imported."""
    named = [preset_of(one, size) for one in variants(name) for size in SIZES]
    return [*SIZES, *named]


def themes() -> dict[str, tuple[str, list[str]]]:
    """Theme -> what it is about, and its experiments; imports none of them.

    Those that other packages bring, and those without a theme, are under "".
    """
    own = pathlib.Path(simbias.experiments.__path__[0])
    places = _places(simbias.experiments)
    out: dict[str, tuple[str, list[str]]] = {}
    for name in experiment_names():
        theme = places.get(name, "").rpartition(".")[0]
        title = _title(own / theme / "__init__.py") if theme else ""
        out.setdefault(theme, (title, []))[1].append(name)
    return dict(sorted(out.items(), key=lambda item: (not item[0], item[0])))


def flow_names() -> list[str]:
    """Names of the flows; imports none."""
    return [*_places(simbias.flows)]


def flows() -> dict[str, type]:
    """Name -> class."""
    return {name: component(m) for name, m in modules(simbias.flows).items()}


def _places(package: types.ModuleType) -> Mapping[str, str]:
    """Name -> module below the package, sorted; a theme is a folder in a folder."""
    return _places_below(tuple(package.__path__))


@functools.cache
def _places_below(paths: tuple[str, ...]) -> Mapping[str, str]:
    found = {}
    for info in _public(paths):
        if info.ispkg:
            inner = [str(pathlib.Path(path) / info.name) for path in paths]
            found |= {one.name: f"{info.name}.{one.name}" for one in _public(inner)}
        else:
            found[info.name] = info.name
    return dict(sorted(found.items()))


def _public(paths: Iterable[str]) -> list[pkgutil.ModuleInfo]:
    every = pkgutil.iter_modules(list(paths))
    return [info for info in every if not info.name.startswith("_")]


def _installed() -> Mapping[str, list[importlib.metadata.EntryPoint]]:
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return dict(sorted(found.items()))


def _point(name: str) -> importlib.metadata.EntryPoint:
    points = _installed()[name]
    if len({point.value for point in points}) > 1:
        packages = [p.dist.name if p.dist else p.value for p in points]
        raise BadInput(
            f"`{name}` is an experiment of several packages: {', '.join(packages)}. "
            "Uninstall all but one of them."
        )
    return points[0]


def _source(module: str) -> pathlib.Path | None:
    """Where a module lies, found without importing the packages around it."""
    top, *below = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None:
        return None
    if not below:
        return pathlib.Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        path = pathlib.Path(folder, *below)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def _title(file: pathlib.Path | None) -> str:
    if file is None:
        return ""
    start = _parsed(file, _DOCSTRING)
    return (ast.get_docstring(start) or "").partition("\n")[0]


def _presets_in(file: pathlib.Path) -> ast.Module:
    """The statement that calls `presets`."""
    return _parsed(file, _PRESETS)


# Parsing a whole file takes 3 ms, and `simbias list` reads two parts of a hundred.
_DOCSTRING = re.compile(r'\A""".*?"""', re.DOTALL)
_PRESETS = re.compile(r"^\w+ = presets\(\n.*?^\)\n", re.DOTALL | re.MULTILINE)


def _parsed(file: pathlib.Path, part: re.Pattern[str]) -> ast.Module:
    """A part of a file of Python; all of it if there is no such part."""
    try:
        found = part.search(file.read_text(encoding="utf-8"))
        return ast.parse(found.group()) if found else syntax(file)
    except (OSError, SyntaxError, ValueError):
        return syntax(file)


@functools.cache
def syntax(file: pathlib.Path) -> ast.Module:
    """What a file of Python says, nothing if it cannot be read or parsed."""
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])
