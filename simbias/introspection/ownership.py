"""Whose code it is: of simbias, of Python, of an installed package, or the user's."""

import functools
import pathlib
import sys
import sysconfig
import types
from typing import Any

_PACKAGE = pathlib.Path(__file__).resolve().parents[1]
_INSTALLED = {"site-packages", "dist-packages"}
# Cells of a notebook, and standard input.
_CELLS = ("<ipython", "<stdin", "<python-input")


def is_own(thing: Any) -> bool:
    """True for a function, a class or a module of the user's.

    A package that is installed in editable form is the user's: its files may change.
    """
    if isinstance(thing, types.FunctionType):
        file = thing.__code__.co_filename
        if not file.startswith("<") or file.startswith(_CELLS):
            return _is_own_file(file)
        if hasattr(thing, "__wrapped__"):
            return False  # made by a decorator; what it wraps is looked at
    if isinstance(thing, types.ModuleType):
        name = thing.__name__
    else:
        name = getattr(thing, "__module__", None)
    # What a notebook or a script defines, here or in a worker that was sent it.
    if name == "__main__":
        return True
    file = getattr(sys.modules.get(name or ""), "__file__", None)
    return file is not None and _is_own_file(file)


def is_compiled(module: types.ModuleType) -> bool:
    """True for an extension in C, whose code cannot be read."""
    file = getattr(module, "__file__", None) or ""
    return pathlib.PurePath(file).suffix in (".so", ".pyd", ".dylib")


@functools.lru_cache(4096)
def _is_own_file(name: str) -> bool:
    path = pathlib.Path(name)
    if _INSTALLED & {*path.parts}:
        return False
    if name.startswith("<"):
        return True
    path = path.resolve()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    roots = [pathlib.Path(sysconfig.get_path(name)).resolve() for name in names]
    return not any(path.is_relative_to(root) for root in (*roots, _PACKAGE))
