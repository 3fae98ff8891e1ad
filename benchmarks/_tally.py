"""How often functions were called, and for how long, seen from outside."""

import collections
import contextlib
import inspect
import os
import tempfile
import threading
import time

import jax

from simbias.ensemble.calls import Calls


class Tally:
    """How often functions were called, and for how long, by label.

    Start-up is apart: what a call spends in tracing, compiling or loading programs
    counts under "compile" and under no other label.
    """

    def __init__(self):
        self.counts = collections.Counter()
        self.seconds: dict[str, float] = collections.defaultdict(float)
        self.first, self.last = {}, {}
        self._guard = threading.Lock()
        self._mine = threading.local()
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Tally":
        inner = Calls._compiling

        @contextlib.contextmanager
        def outer(calls):
            began = time.monotonic()
            with inner(calls):
                yield
            self.add("compile", time.monotonic() - began)
            self._mine.compiled = self._compiled() + time.monotonic() - began

        self._replace(Calls, "_compiling", outer)
        return self

    def __exit__(self, *_) -> None:
        self._undo.close()

    def add(self, label: str, seconds: float) -> None:
        with self._guard:
            self.counts[label] += 1
            self.seconds[label] += seconds
            self.last[label] = time.monotonic()
            # What is compiled later is start-up as well.
            compiled = self.seconds["compile"]
            self.first.setdefault(label, self.last[label] - compiled)

    def watch(self, owner, name: str, label: str, *, waits: bool = False) -> None:
        """Replace a function by one that is counted and timed, and `waits` if asked."""
        inner = getattr(owner, name)

        def outer(*arguments, **options):
            began, compiled = time.monotonic(), self._compiled()
            try:
                out = inner(*arguments, **options)
                return jax.block_until_ready(out) if waits else out
            finally:
                compiled = self._compiled() - compiled
                self.add(label, time.monotonic() - began - compiled)

        async def later(*arguments, **options):
            began = time.monotonic()
            try:
                return await inner(*arguments, **options)
            finally:
                self.add(label, time.monotonic() - began)

        is_async = inspect.iscoroutinefunction(inner)
        self._replace(owner, name, later if is_async else outer)

    def _replace(self, owner, name: str, new) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, new)

    def _compiled(self) -> float:
        return getattr(self._mine, "compiled", 0.0)


@contextlib.contextmanager
def compile_cache():
    """Compiled programs are kept for this process and its workers, and then removed."""
    with tempfile.TemporaryDirectory() as folder:
        least = "jax_persistent_cache_min_compile_time_secs"
        for name, value in {"jax_compilation_cache_dir": folder, least: 0}.items():
            jax.config.update(name, value)
            os.environ[name.upper()] = str(value)
        yield
