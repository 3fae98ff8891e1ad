"""Threads that were left while they compiled, which nothing can interrupt.

Python cannot end while one of them is at it: XLA would abort the process.
"""

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterable

_LEFT: list[threading.Thread] = []


def leave(threads: Iterable[threading.Thread]) -> None:
    """Go on without these; where Python ends by itself, it waits for them."""
    _LEFT[:] = [thread for thread in (*_LEFT, *threads) if thread.is_alive()]
    atexit.unregister(_wait)
    atexit.register(_wait)


def is_left() -> bool:
    """True if somebody who was left still compiles."""
    return any(thread.is_alive() for thread in _LEFT)


def exit_at_once(code: int) -> None:
    """End the process whatever its threads are at; only for who owns the process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _wait() -> None:
    for thread in _LEFT:
        thread.join()
