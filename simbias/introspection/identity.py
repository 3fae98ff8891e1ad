"""What a function computes, as a text: the same for two that compute the same.

A function of a module is told by its name.  A lambda, or a function made inside
another one, has no name of its own: it is told by its code and by what it holds.
"""

import dataclasses
import enum
import functools
import hashlib
import types
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from simbias.errors import BadInput


def identity(value: Any) -> str:
    """A text that is the same for two values which do the same, in every process.

    The code of a function belongs to a version of Python.  What a function reads from
    its module besides its arguments is not seen.

    Raises:
        ValueError: for a function that holds an array which is being traced.
    """
    return _Description().of(value)


def code_identity(function: Any) -> str:
    """Name of a function, and a digest of its code and of what it holds."""
    function = unjitted(function)
    if not isinstance(function, types.FunctionType):
        return identity(function)
    digest = hashlib.sha256(_Description().held(function).encode()).hexdigest()
    return f"{_named(function)} {digest[:16]}"


def code_digest(codes: Sequence[types.CodeType]) -> str:
    """Digest of what functions do, without what they hold."""
    text = _Description().of(tuple(codes))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def has_name(function: Any) -> bool:
    """False for a lambda, and for what was made inside another function."""
    return "<" not in getattr(unjitted(function), "__qualname__", "")


class _Description:
    """Goes through a value and what it holds, each object once."""

    def __init__(self):
        # The objects too, so that their numbers are not given to others meanwhile.
        self._seen: dict[int, tuple[Any, str]] = {}

    def of(self, value: Any) -> str:
        if id(value) not in self._seen:
            self._seen[id(value)] = (value, "itself")
            self._seen[id(value)] = (value, self._text(value))
        return self._seen[id(value)][1]

    def held(self, function: types.FunctionType) -> str:
        """Code, defaults and closure."""
        cells = tuple(map(_content, function.__closure__ or ()))
        defaults = (function.__defaults__, function.__kwdefaults__)
        return self.of((function.__code__, defaults, cells))

    def _text(self, value: Any) -> str:
        if isinstance(value, Tracer):
            raise BadInput(
                "a function holds an array that is drawn or a number of the cell, "
                "which are traced. Give it to the network as a field, so that it is "
                "one of its arrays."
            )
        if isinstance(value, enum.Enum | type | types.ModuleType):
            return _named(value)
        if isinstance(value, np.ndarray | jax.Array | np.generic):
            return array_identity(value)
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, functools.partial):
            return f"partial({self.of((value.func, value.args, value.keywords))})"
        if isinstance(value, types.MethodType):
            return f"{self.of(value.__func__)} of {self.of(value.__self__)}"
        if isinstance(function := unjitted(value), types.FunctionType):
            holds = "" if has_name(function) else f"({self.held(function)})"
            return _named(function) + holds
        return self._collection(value)

    def _collection(self, value: Any) -> str:
        if isinstance(value, Mapping):
            pairs = (f"{self.of(k)}:{self.of(v)}" for k, v in value.items())
            return f"{{{','.join(pairs)}}}"
        if isinstance(value, tuple | list):
            return f"{type(value).__name__}({','.join(map(self.of, value))})"
        if isinstance(value, set | frozenset):
            return f"{{{','.join(sorted(map(self.of, value)))}}}"
        if dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return _named(type(value)) + self.of(fields)
        text = repr(value)
        if " at 0x" not in text:
            return f"{type(value).__name__} {text}"
        if hasattr(value, "__qualname__"):
            return _named(value)
        return _named(type(value)) + self.of(getattr(value, "__dict__", {}))

    def _code(self, code: types.CodeType) -> str:
        names = (code.co_names, code.co_varnames, code.co_freevars)
        return f"{code.co_code.hex()} {self.of(code.co_consts)} {names}"


def _named(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", value)
    return f"{getattr(value, '__module__', '')}.{name}"


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is bound later
        return None


def array_identity(value: Any) -> str:
    """Type, shape and digest of an array, or of a key."""
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    digest = hashlib.sha256(array.tobytes()).hexdigest()
    return f"{array.dtype}{list(array.shape)} {digest}"


def unjitted(function: Any) -> Any:
    """The function that `jax.jit` and its like were given."""
    while not isinstance(function, types.FunctionType | type):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    return function
