"""A worker as a child of the process that a pool has placed.

It is a program of its own, whatever the engine does with the process above it: it has
its own signals and its own JAX, and leaves with its work saved when its input ends,
which is when that process asks it to, is killed, or its job or node is taken away.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simbias.workers.command import Command, program
from simbias.workers.cores import free_cores

# The exit code of a worker that was asked to leave and has saved its work.
LEFT = 128 + signal.SIGTERM
_POLL_SECONDS = 0.1
_LENGTH = 8


def started(
    command: Command, cores: Sequence[int] = (), **options: Any
) -> subprocess.Popen:
    """A worker that is attached to this process, kept to some cores if any are given.

    It has a session of its own, so that Ctrl-C reaches it once, by way of us, and is
    deaf to the signals by which a cluster talks to its jobs.
    """
    with _deaf():
        child = subprocess.Popen(
            program(*command.words, "--attached"),
            stdin=subprocess.PIPE,
            start_new_session=True,
            **options,
        )
    if cores and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(child.pid, cores)
    assert child.stdin is not None
    if command.given:
        with contextlib.suppress(BrokenPipeError):  # its exit code will say why
            child.stdin.write(len(command.given).to_bytes(_LENGTH, "big"))
            child.stdin.write(command.given)
            child.stdin.flush()
    return child


def given_to_this() -> bytes:
    """What the process that has started this one gave it."""
    length = int.from_bytes(_exactly(_LENGTH), "big")
    return _exactly(length)


def ask_to_leave(child: subprocess.Popen) -> None:
    """Ask a worker to save what it is at and end, as often as you like."""
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.close()


def work(
    command: Command,
    cores: int | None = None,
    is_asked: Callable[[], bool] = lambda: False,
) -> int:
    """Run a worker here, and wait for it.

    Args:
        command: what it is.
        cores: how many it keeps to, of those that no other one on this machine has.
        is_asked: true once it shall leave; so shall it when this is interrupted by an
            exception, in whatever way an engine does that.

    Returns:
        Its exit code: 0 if the run is finished, `LEFT` if it was asked to leave.
    """
    with contextlib.ExitStack() as held:
        mine = held.enter_context(free_cores(cores)) if cores else ()
        child = started(command, mine)
        try:
            while child.poll() is None:
                if is_asked():
                    ask_to_leave(child)
                time.sleep(_POLL_SECONDS)
        finally:
            ask_to_leave(child)
            child.wait()
    return child.returncode


def check(code: int) -> None:
    """Return if a worker ended well.

    Raises:
        RuntimeError: with its exit code.
    """
    if code:
        raise RuntimeError(f"the worker ended with code {code}")


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Signals that a child never hears of; those that come now are heard later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGUSR2})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _exactly(length: int) -> bytes:
    """So many bytes of standard input, and not one more."""
    found = b""
    while len(found) < length and (more := os.read(0, length - len(found))):
        found += more
    return found
