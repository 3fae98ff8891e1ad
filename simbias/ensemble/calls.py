"""Calls of programs, each compiled once though several threads ask for it."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax

from simbias.ensemble.events import Progress
from simbias.numerics.program_cache import give_back_memory, make_room


class Calls:
    """Calls programs; while one of them compiles, `progress` says so."""

    def __init__(self, progress: Progress):
        self.progress = progress
        self._guard = threading.Lock()
        self._locks: dict[Any, threading.Lock] = {}
        self._ready: set[Any] = set()

    def __call__(self, program: Any, *arguments: Any) -> Any:
        """Call a program; of several threads that need it compiled, one compiles."""
        key = _key(program, arguments)
        if key in self._ready:
            return program(*arguments)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with self._compiling(), lock:
            make_room()
            out = program(*arguments)
            give_back_memory()
            self._ready.add(key)
        return out

    def is_wanted(self, program: Any, *arguments: Any) -> bool:
        """Whether such a program is not compiled, and nobody is about it."""
        key = _key(program, arguments)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        return key not in self._ready and not lock.locked()

    def is_compiled(self, program: Any, *arguments: Any) -> bool:
        """Whether such a call computes at once."""
        return _key(program, arguments) in self._ready

    @contextlib.contextmanager
    def _compiling(self) -> Iterator[None]:
        me = threading.current_thread()
        self.progress.compiling.add(me)
        try:
            yield
        finally:
            self.progress.compiling.discard(me)


def _key(program: Any, arguments: tuple) -> tuple:
    """What a program is compiled for: all but the numbers in arrays."""
    leaves, structure = jax.tree.flatten(arguments)
    shape = lambda v: (v.shape, v.dtype) if eqx.is_array(v) else v
    return id(program), structure, tuple(map(shape, leaves))
