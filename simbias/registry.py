"""What the folders hold: a folder of components is its own registry.

A file `effective_width.py` holds the function `effective_width` or the class
`EffectiveWidth`; a file whose name starts with `_` holds helpers.
"""

import ast
import importlib
import importlib.util
import pkgutil
import types
from typing import Any

import simbias.experiments
import simbias.flows
from simbias.core import AbstractFlow


def modules(package: types.ModuleType) -> dict[str, types.ModuleType]:
    """Name -> module, for every public file of a folder, sorted."""
    return {
        name: importlib.import_module(f"{package.__name__}.{name}")
        for name in _names(package)
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
    """Name -> module with `experiment`, `figure` and `claims`."""
    return modules(simbias.experiments)


def titles() -> dict[str, str]:
    """Name -> first line of the docstring of every experiment; imports none of them."""
    out = {}
    for name in _names(simbias.experiments):
        spec = importlib.util.find_spec(f"{simbias.experiments.__name__}.{name}")
        source = spec.loader.get_source(spec.name)  # pyright: ignore
        out[name] = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    return out


def flows() -> dict[str, type[AbstractFlow]]:
    """Name -> class."""
    return {name: component(m) for name, m in modules(simbias.flows).items()}


def _names(package: types.ModuleType) -> list[str]:
    return sorted(
        info.name
        for info in pkgutil.iter_modules(package.__path__)
        if not info.name.startswith("_")
    )
