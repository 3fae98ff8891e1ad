"""The progress bar: members done and failed, compiling, stopping."""

import sys
import time
from typing import Any

from tqdm.auto import tqdm

from simbias.ensemble.events import Event, Outcome, Progress

# The bar moves when something happens, and its clock at least this often.  Where it is
# lines of a file, they are as far apart.
_REDRAW_SECONDS = 10.0
_IS_IN_NOTEBOOK = any(kind.__module__ == "tqdm.notebook" for kind in tqdm.__mro__)


class Bar:
    """A context; `progress` is what the stations write."""

    def __init__(self, title: str, total: int, *, is_drawn: bool):
        self.progress = Progress()
        self._failed = 0
        self._note, self._drawn = "", time.monotonic()
        options: dict[str, Any] = {"total": total, "unit": "member", "desc": title}
        self._is_lines = is_drawn and not (_IS_IN_NOTEBOOK or sys.stderr.isatty())
        if self._is_lines:
            # Drawn when we say so, and never in between.
            options |= {"file": _Lines(), "mininterval": float("inf"), "miniters": 1}
        self._bar = tqdm(disable=not is_drawn, **options)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_) -> None:
        self._bar.close()

    def show(self, finished: int, event: Event | None = None) -> None:
        """Members finished so far, and what happened last."""
        if isinstance(event, Outcome):
            self._failed += event.status.is_failure
        note = f"failed={self._failed}"
        if self.progress.compiling:
            note += ", compiling"
        if self.progress.is_stopping:
            note += ", stopping after this round"
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(finished - self._bar.n)
        is_news = note != self._note and not self._is_lines
        if is_news or time.monotonic() - self._drawn > _REDRAW_SECONDS:
            self._bar.refresh()
            self._note, self._drawn = note, time.monotonic()


class _Lines:
    """Standard error where it is no terminal: every time the bar is drawn, a line."""

    @property
    def encoding(self) -> str | None:
        """What decides which characters a bar is made of."""
        return sys.stderr.encoding

    def write(self, text: str) -> None:
        """A line, of what would be drawn over the last one."""
        if line := text.strip():
            sys.stderr.write(line + "\n")

    def flush(self) -> None:
        """What is written appears."""
        sys.stderr.flush()
