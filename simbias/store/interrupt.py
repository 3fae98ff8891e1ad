"""SIGINT and SIGTERM as a request, so that what is in flight can be saved first."""

import signal
import threading
from typing import Any

TERMINATED = 128 + signal.SIGTERM


class Interrupt:
    """While it is entered, the first signal is noted; a second one acts as ever.

    Only in the main thread, and only where the program has no handler of its own.
    """

    def __init__(self):
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is not threading.main_thread():
            return self
        ordinary = {
            signal.SIGINT: signal.default_int_handler,
            signal.SIGTERM: signal.SIG_DFL,
        }
        for number, handler in ordinary.items():
            if signal.getsignal(number) == handler:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def raise_noted(self) -> None:
        """Do what the signal asked for.

        Raises:
            KeyboardInterrupt: after SIGINT.
            SystemExit: after SIGTERM, with code 143.
        """
        if self.signal == signal.SIGTERM:
            raise SystemExit(TERMINATED)
        if self.signal is not None:
            raise KeyboardInterrupt

    def _note(self, number: int, _frame: Any) -> None:
        self.signal = number
        for each, handler in self._before.items():
            signal.signal(each, handler)
