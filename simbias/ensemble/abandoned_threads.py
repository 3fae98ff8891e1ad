"""Threads that still compile when nobody waits for them: nothing can interrupt them.

Python cannot end while one of them is at it: XLA would abort the process.
"""

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterable

_ABANDONED: list[threading.Thread] = []


def abandon(threads: Iterable[threading.Thread]) -> None:
    """Go on without these; where Python ends by itself, it waits for them."""
    _ABANDONED[:] = [thread for thread in (*_ABANDONED, *threads) if thread.is_alive()]
    atexit.unregister(_wait)
    atexit.register(_wait)


def has_abandoned_threads() -> bool:
    """True while an abandoned thread still compiles."""
    return any(thread.is_alive() for thread in _ABANDONED)


def exit_at_once(code: int) -> None:
    """End the process whatever its threads are at; only for who owns the process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _wait() -> None:
    for thread in _ABANDONED:
        thread.join()
