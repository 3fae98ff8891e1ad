"""SIGINT, SIGTERM and SIGHUP as a request, so that what is in flight is saved first."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

# A terminal that is closed; there is none on Windows.
HANGUP: int | None = getattr(signal, "SIGHUP", None)


# Slurm sends SIGTERM by way of several of its processes: those that come so soon after
# the first signal are the same request.
_ECHO_SECONDS = 5.0


class Interrupt:
    """While it is entered, the first signal is noted; a second one acts as ever.

    A SIGTERM does so only if it comes five seconds later.

    Only in the main thread, and only where the program has no handler of its own: after
    `nohup` a closed terminal stays ignored.  It often says so twice, so that SIGHUP
    never acts at once.

    Args:
        over: an event that asks for the same as SIGTERM, once.
    """

    def __init__(self, over: threading.Event | None = None):
        self._noted: int | None = None
        self._since = 0.0
        self._over = over
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is not threading.main_thread():
            return self
        ordinary: dict[int, Any] = {
            signal.SIGINT: signal.default_int_handler,
            signal.SIGTERM: signal.SIG_DFL,
        }
        if HANGUP is not None:
            ordinary[HANGUP] = signal.SIG_DFL
        for number, handler in ordinary.items():
            if signal.getsignal(number) == handler:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def signal(self) -> int | None:
        """The signal that came first, None as long as there was none."""
        if self._noted is None and self._over is not None and self._over.is_set():
            self._noted = signal.SIGTERM
        return self._noted

    def raise_noted(self) -> None:
        """Do what the signal asked for.

        Raises:
            KeyboardInterrupt: after SIGINT.
            SystemExit: after SIGTERM and SIGHUP, with code 143 and 129.
        """
        if self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        if self.signal is not None:
            raise SystemExit(128 + self.signal)

    def _note(self, number: int, _frame: Any) -> None:
        now = time.monotonic()
        if self._since == 0.0:
            self._noted, self._since = self._noted or number, now
            if signal.SIGINT in self._before:
                signal.signal(signal.SIGINT, self._before[signal.SIGINT])
        elif number == signal.SIGTERM and now - self._since >= _ECHO_SECONDS:
            signal.signal(number, self._before[number])
            signal.raise_signal(number)


def ignore_interrupts() -> Any:
    """Ignore Ctrl-C from now on.

    Returns:
        What handled it before, None outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    return signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while this lasts."""
    before = ignore_interrupts()
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
