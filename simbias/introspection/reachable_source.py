"""The source that an experiment reaches in the modules of its user.

From the functions and objects of an experiment, through what they call, hold, inherit
from and read from their modules.  What simbias, Python and installed packages bring is
told by their versions instead.
"""

import dataclasses
import enum
import functools
import hashlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from simbias.introspection.identity import array_identity, unjitted
from simbias.introspection.names_of_code import Imported, names_of_code
from simbias.introspection.object_contents import (
    HELD,
    PLAIN,
    closure,
    defaults,
    is_generated,
    is_written_in,
    may_change,
    method_of,
    safe_repr,
)
from simbias.introspection.ownership import is_compiled, is_own
from simbias.introspection.source_text import (
    assigned_text,
    class_text,
    code_version,
    function_text,
)

# An array of more bytes, and a collection of more entries, is named and not read.
_MOST_BYTES, _MOST_ENTRIES = 2**28, 10_000
_LONGEST = 200


def reachable_source(things: Mapping[str, Any]) -> dict[str, Any] | None:
    """Source that things reach, as JSON-ready data; None if none of it is the user's.

    `functions` holds for every function and class its `text`, without comments and
    docstrings (None where there is no file, or the file has changed since), and the
    version of its `code`.  `values` are those of constants, arrays by their digest;
    `assigned` the statements of a module that make what may change while it runs.
    `not_covered` names what a change of would not be found: compiled extensions, what
    collections and objects of a module hold while the run is on, and large arrays.

    Args:
        things: functions, and objects that hold some, by their names.
    """
    walk = _Walk()
    for name, thing in things.items():
        walk.of(thing, name)
    if not (walk.functions or walk.values):
        return None
    return {
        "functions": walk.functions,
        "values": walk.values,
        "assigned": walk.assigned,
        "not_covered": sorted(walk.not_covered),
    }


class _Walk:
    """Goes through objects, each once; `of` gives a text that stands for a value."""

    def __init__(self):
        self.functions: dict[str, dict[str, str | None]] = {}
        self.values: dict[str, str] = {}
        self.assigned: dict[str, str] = {}
        self.not_covered: set[str] = set()
        # The objects too, so that their numbers are not given to others meanwhile.
        self._seen: dict[int, tuple[Any, str]] = {}
        self._named: dict[str, Any] = {}

    def of(self, value: Any, where: str) -> str:
        if isinstance(value, PLAIN):
            return _short(repr(value))
        if id(value) not in self._seen:
            self._seen[id(value)] = (value, _name(type(value)))
            self._seen[id(value)] = (value, self._text(value, where))
        return self._seen[id(value)][1]

    def _text(self, value: Any, where: str) -> str:
        if isinstance(value, enum.Enum):
            return f"{_name(type(value))}.{value.name}"
        if isinstance(value, np.ndarray | np.generic | jax.Array):
            return self._array(value, where)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value, where)
        if isinstance(value, types.MethodType):
            owner = self.of(value.__self__, where)
            return f"{self.of(value.__func__, where)} of {owner}"
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, value.keywords)
            return f"partial {self._several(parts, where)}"
        if isinstance(value, Mapping):
            entries = [*value.keys(), *value.values()]
            return f"{_name(type(value))} {self._several(entries, where)}"
        if isinstance(value, tuple | list | set | frozenset):
            return f"{_name(type(value))} {self._several(value, where)}"
        if dataclasses.is_dataclass(value):
            self.of(type(value), where)
            fields = [getattr(value, f.name, None) for f in dataclasses.fields(value)]
            return f"{_name(type(value))} {self._several(fields, where)}"
        return self._other(value, where)

    def _several(self, values: Any, where: str) -> str:
        if len(values) > _MOST_ENTRIES:
            self.not_covered.add(f"{where}: {len(values)} entries")
            return f"of {len(values)}"
        texts = [self.of(value, where) for value in values]
        if isinstance(values, set | frozenset):
            texts.sort()
        return _short(f"({', '.join(texts)})")

    def _array(self, value: Any, where: str) -> str:
        if isinstance(value, Tracer):
            self.not_covered.add(f"{where}: an array that is traced")
            return "traced"
        if getattr(value, "nbytes", 0) > _MOST_BYTES or value.dtype == object:
            self.not_covered.add(f"{where}: an array of shape {value.shape}")
            return f"{value.dtype}{list(value.shape)}"
        try:
            return array_identity(value)
        except RuntimeError:  # deleted, or on another machine
            self.not_covered.add(f"{where}: an array that cannot be read")
            return f"{value.dtype}{list(value.shape)}"

    def _other(self, value: Any, where: str) -> str:
        """An object of any class: what it holds while the run is on is not seen."""
        inner = unjitted(value)
        if inner is not value:
            return self.of(inner, where)
        if isinstance(value, types.BuiltinFunctionType):
            module = sys.modules.get(value.__module__ or "")
            if module is not None and is_own(module):
                self.not_covered.add(f"{_name(value)}: compiled")
            return _name(value)
        if is_own(type(value)):
            self.of(type(value), where)
            self.not_covered.add(f"{where}: what a {type(value).__name__} holds")
        for name in HELD:
            held = inspect.getattr_static(value, name, None)
            if isinstance(held, types.FunctionType | functools.partial):
                self.of(held, where)
        return _short(safe_repr(value))

    def _module(self, module: types.ModuleType) -> str:
        """One that is passed around: everything it defines may be reached."""
        if not is_own(module):
            return module.__name__
        if is_compiled(module):
            self.not_covered.add(f"{module.__name__}: compiled")
            return module.__name__
        for name, value in vars(module).items():
            is_code = isinstance(value, type | types.FunctionType)
            if is_code and value.__module__ == module.__name__:
                self.of(value, f"{module.__name__}.{name}")
        return module.__name__

    def _class(self, cls: type) -> str:
        name = _name(cls)
        if not is_own(cls):
            return name
        functions = [f for v in vars(cls).values() if (f := method_of(v)) is not None]
        own = [f for f in functions if is_own(f) and is_written_in(cls, f)]
        codes = [f.__code__ for f in own]
        key = self._write(name, class_text(cls.__qualname__, codes), codes, cls)
        for base in cls.__bases__:
            self.of(base, key)
        for function in functions:
            if function in own:
                self._through(function, f"{key}.{function.__name__}")
            elif not is_generated(function):
                self.of(function, key)
        for attribute, value in vars(cls).items():
            if isinstance(value, enum.Enum):
                self._put(f"{key}.{attribute}", repr(value.value))
            elif isinstance(value, PLAIN) and not attribute.startswith("__"):
                self._put(f"{key}.{attribute}", self.of(value, key))
        for field in getattr(cls, "__dataclass_fields__", {}).values():
            for given in (field.default, field.default_factory):
                if given is not dataclasses.MISSING:
                    self._hold(f"{key}.{field.name}", given, None)
        return key

    def _function(self, function: types.FunctionType, where: str) -> str:
        if not is_own(function):
            # One of a package may hold some of the user's, as an optimiser of optax.
            for held in closure(function).values():
                self.of(held, where)
            return _name(function)
        code = function.__code__
        key = self._write(_name(function), function_text(code), [code], code)
        self._through(function, key)
        return key

    def _put(self, key: str, text: str) -> None:
        """Write a value down, apart from another of that name."""
        name, count = key, 1
        while self.values.setdefault(key, text) != text:
            count += 1
            key = f"{name} ({count})"

    def _write(
        self, name: str, text: str | None, codes: list[types.CodeType], thing: Any
    ) -> str:
        """Write a function or a class down; its name, told from others of that name."""
        key, count = name, 1
        while key in self._named and self._named[key] != thing:
            count += 1
            key = f"{name} ({count})"
        self._named[key] = thing
        self.functions[key] = {"text": text, "code": code_version(codes)}
        return key

    def _through(self, function: types.FunctionType, key: str) -> None:
        """What a function of the user's reads: closure, defaults, names, imports."""
        for name, value in {**defaults(function), **closure(function)}.items():
            self._hold(f"{key}: {name}", value, None)
        spaces = function.__globals__
        for read in names_of_code(function.__code__):
            if isinstance(read, Imported):
                self._imported(read, spaces, key)
            elif read[0] in spaces:
                file = function.__code__.co_filename
                self._read(read, spaces[read[0]], f"{function.__module__}", file)

    def _read(self, names: tuple[str, ...], value: Any, within: str, file: str) -> None:
        """A name of a module; of a module, what is taken from it."""
        key, rest = f"{within}.{names[0]}", names[1:]
        if isinstance(value, types.ModuleType) and is_own(value):
            if rest and not is_compiled(value) and hasattr(value, rest[0]):
                file = getattr(value, "__file__", None) or ""
                inner = getattr(value, rest[0])
                self._read(rest, inner, value.__name__, file)
                return
            self.of(value, key)
            return
        if not isinstance(value, types.ModuleType):
            self._hold(key, value, lambda: assigned_text(file, names[0]))

    def _imported(self, read: Imported, spaces: dict[str, Any], key: str) -> None:
        package = spaces.get("__package__") or ""
        try:
            name = importlib.util.resolve_name("." * read.level + read.module, package)
        except ImportError:
            return
        module = sys.modules.get(name)
        if module is None or not is_own(module):
            return
        for attribute in read.names:
            if hasattr(module, attribute):
                file = getattr(module, "__file__", None) or ""
                self._read((attribute,), getattr(module, attribute), name, file)
        if not read.names:
            self.of(module, key)

    def _hold(self, key: str, value: Any, assigned: Callable | None) -> None:
        """A value that a function reads: itself, or of one that may change its name."""
        text = self.of(value, key)
        if isinstance(value, types.FunctionType | type):
            # Under its own name it is what is written down already.
            if text != key and (is_own(value) or assigned is None):
                self._put(key, text)
        elif may_change(value):
            self.not_covered.add(f"{key}: what a {type(value).__name__} holds")
            if assigned is not None and (statements := assigned()):
                self.assigned[key] = statements
        else:
            self._put(key, text)


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{value.__qualname__}"


def _short(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
