"""Contents of functions, classes and wrappers."""

import dataclasses
import enum
import functools
import types
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from simbias.introspection.identity import unjitted
from simbias.introspection.ownership import is_own

PLAIN = (type(None), bool, int, float, complex, str, bytes)
# Attributes under which a wrapper, such as a property, holds its functions.
HELD = ("__wrapped__", "__func__", "func", "method", "fget", "fset", "fun", "jvp")
HELD += ("fwd", "bwd")


def may_change(value: Any) -> bool:
    """Whether a value can become another one while a run is on."""
    if isinstance(value, tuple | frozenset):
        return any(map(may_change, value))
    if isinstance(value, functools.partial):
        return may_change((value.func, value.args, tuple(value.keywords.values())))
    if isinstance(value, type | types.FunctionType | types.MethodType):
        return False
    if dataclasses.is_dataclass(value):
        return not value.__dataclass_params__.frozen  # pyright: ignore
    known = (*PLAIN, enum.Enum, np.ndarray, np.generic, jax.Array)
    if isinstance(value, known) or unjitted(value) is not value:
        return False
    if isinstance(value, Mapping | list | set) or is_own(type(value)):
        return True
    return safe_repr(value) == type(value).__qualname__ and not callable(value)


def method_of(value: Any) -> types.FunctionType | None:
    """The function in an entry of a class."""
    for _ in range(8):
        if value is None or isinstance(value, types.FunctionType):
            return value
        held = (getattr(value, name, None) for name in HELD)
        value = next((v for v in held if callable(v)), None)
    return None


def is_written_in(cls: type, function: types.FunctionType) -> bool:
    """Whether a function stands in the text of a class."""
    is_inside = function.__qualname__.startswith(f"{cls.__qualname__}.")
    return is_inside and not is_generated(function)


def is_generated(function: types.FunctionType) -> bool:
    """True for what `dataclasses` and `namedtuple` write themselves."""
    return function.__code__.co_filename.startswith(("<string>", "<namedtuple"))


def closure(function: types.FunctionType) -> dict[str, Any]:
    """The names of other functions that it holds, with their values."""
    found = {}
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # a name that is bound later
            continue
    return found


def defaults(function: types.FunctionType) -> dict[str, Any]:
    """Its arguments that have a default, with it."""
    given = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    ordered = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return {**ordered, **(function.__kwdefaults__ or {})}


def safe_repr(value: Any) -> str:
    """What an object of any class says of itself; its class if it says nothing."""
    try:
        text = repr(value)
    except Exception:  # of any kind: it is not ours
        text = " at 0x"
    return type(value).__qualname__ if " at 0x" in text else text
