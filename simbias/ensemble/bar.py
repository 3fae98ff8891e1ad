"""The progress bar: members done and failed, compiling, stopping."""

import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from tqdm.auto import tqdm

from simbias.ensemble.events import Event, Outcome, Progress

# The bar moves when something happens, and its clock at least this often.  Where it is
# lines of a file, they are as far apart.
_REDRAW_SECONDS = 10.0
_IS_IN_NOTEBOOK = any(kind.__module__ == "tqdm.notebook" for kind in tqdm.__mro__)


@dataclasses.dataclass(frozen=True)
class Pulse:
    """Where a run is, for who shows it in another way.

    `rate` is in members a second since this process began, `seconds_left` what the rest
    takes at that rate; both are None before a member is done.  Of `shapes` programs
    `begun` are compiled, or being compiled if `is_compiling`, which took
    `seconds_compiling` of `seconds`.  `seconds_stepping` is the time for which members
    were advanced, added up over all threads.
    """

    members: int
    done: int
    failed: int
    begun: int
    shapes: int
    is_compiling: bool
    seconds: float
    seconds_compiling: float
    rate: float | None
    seconds_left: float | None
    seconds_stepping: float = 0.0


Report = Callable[[Pulse], None]


class Bar:
    """A context; `progress` is what the stations write.

    `report` is told when the bar would move: when something happens that is not only
    one more member, and every few seconds.
    """

    def __init__(
        self, title: str, total: int, *, is_drawn: bool, report: Report | None = None
    ):
        self.progress = Progress()
        self._report, self._told = report, ("", -1)
        self._began = self._looked = time.monotonic()
        self._first: int | None = None
        self._compiling = 0.0
        self._failed, self._total = 0, total
        self._note, self._drawn = "", time.monotonic()
        options: dict[str, Any] = {"total": total, "unit": "network", "desc": title}
        has_errors: bool = sys.stderr is not None  # none in a program without console
        is_drawn = is_drawn and (_IS_IN_NOTEBOOK or has_errors)
        self._is_lines = is_drawn and not (_IS_IN_NOTEBOOK or sys.stderr.isatty())
        if self._is_lines:
            # Drawn when we say so, and never in between.
            options |= {"file": _Lines(), "mininterval": float("inf"), "miniters": 1}
        elif is_drawn and not _IS_IN_NOTEBOOK and _columns() == 0:
            options |= {"ncols": 80}  # a terminal that does not know its size
        self._bar = tqdm(disable=not is_drawn, **options)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_) -> None:
        # Whoever still compiles, or was left at it, is no part of the last line.
        self._bar.set_postfix_str(f"failed={self._failed}", refresh=False)
        self._bar.close()

    def show(self, finished: int, event: Event | None = None) -> None:
        """Members finished so far, and what happened last."""
        if isinstance(event, Outcome):
            self._failed += event.status.is_failure
        note = f"failed={self._failed}"
        if self.progress.compiling:
            note += f", compiling{self._which()}"
        if self.progress.is_stopping:
            note += ", stopping after this round"
        self._tell(note, finished)
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(finished - self._bar.n)
        is_news = note != self._note and not self._is_lines
        if is_news or time.monotonic() - self._drawn > _REDRAW_SECONDS:
            self._bar.refresh()
            self._note, self._drawn = note, time.monotonic()

    def _which(self) -> str:
        """Which of the shapes is being compiled, where there are several."""
        of = self.progress.shapes
        return f" {len(self.progress.begun)} of {of}" if of > 1 else ""

    def _tell(self, note: str, finished: int) -> None:
        now = time.monotonic()
        if self.progress.compiling:
            self._compiling += now - self._looked
        is_new = note != self._told[0] or finished == self._total
        is_due = self._looked == self._began or now - self._drawn > _REDRAW_SECONDS
        self._looked = now
        self._first = finished if self._first is None else self._first
        if self._report is None or (note, finished) == self._told:
            return
        if is_new or is_due:
            self._told = note, finished
            self._report(self._pulse(finished, now - self._began))

    def _pulse(self, finished: int, seconds: float) -> Pulse:
        total = self._total
        done = finished - (self._first or 0)
        rate = done / seconds if done and seconds else None
        return Pulse(
            members=total,
            done=finished,
            failed=self._failed,
            begun=len(self.progress.begun),
            shapes=self.progress.shapes,
            is_compiling=bool(self.progress.compiling),
            seconds=seconds,
            seconds_compiling=self._compiling,
            rate=rate,
            seconds_left=(total - finished) / rate if rate else None,
            seconds_stepping=sum([*self.progress.stepping.values()], 0.0),
        )


def _columns() -> int | None:
    """Of the terminal of standard error; None if it is none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return None


class _Lines:
    """Standard error where it is no terminal: every time the bar is drawn, a line."""

    @property
    def encoding(self) -> str | None:
        """What decides which characters a bar is made of."""
        return sys.stderr.encoding

    def write(self, text: str) -> None:
        """A line, of what would be drawn over the last one; lost where it fails."""
        if line := text.strip():
            with contextlib.suppress(OSError):
                sys.stderr.write(line + "\n")

    def flush(self) -> None:
        """What is written appears."""
        with contextlib.suppress(OSError):
            sys.stderr.flush()
