"""How long processes were at a run: a small file of each, beside the run.

The run itself holds nothing of it, for its bytes are those of its members alone.  Each
process rewrites its own file now and then, so that one that is killed loses no more
than the last half minute.
"""

import contextlib
import dataclasses
import json
import math
import os
import socket
import time
import uuid
from collections.abc import Sequence
from typing import Any

from simbias.ensemble.bar import Pulse, Report
from simbias.store._root import parsed
from simbias.store.layout import Store
from simbias.store.place import AbstractPlace, Replaced, Unreachable

_SECONDS = 30.0
# Of an error, in characters.
_LONGEST = 2000
# Of a file that a process has left, and of a time in it.
_MOST_BYTES, _MOST_SECONDS = 1 << 20, 2.0**1000
_NUMBERS = ("began", "ended", "cpu", "compiling")


@dataclasses.dataclass(frozen=True)
class TimeTaken:
    """Seconds of all processes of a run.

    `wall` counts the time during which at least one of them was at it, each by the
    clock of its machine; `cpu` and `compiling` are sums.
    """

    wall: float
    cpu: float
    compiling: float
    processes: int

    def described(self) -> str:
        """A line for a person."""
        who = "one process" if self.processes == 1 else f"{self.processes} processes"
        wall, cpu, compiling = map(_words, (self.wall, self.cpu, self.compiling))
        return f"{wall}, by {who}: {cpu} of CPU time, {compiling} of compiling"


class Stopwatch:
    """A context around the work of this process; what is told of it is a `Pulse`.

    A process that was told nothing did nothing, and leaves no file, unless it fails.
    """

    def __init__(self, store: Store, report: Report | None = None):
        """`report` is told the same."""
        self._store, self._report = store, report
        self._file = _folder(store) / f"{uuid.uuid4().hex}.json"
        self._began, self._start = time.time(), time.monotonic()
        self._cpu, self._compiling = time.process_time(), 0.0
        self._written = self._start
        self._last: Pulse | None = None
        self._said: str | None = None

    def __enter__(self) -> "Stopwatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_
    ) -> None:
        if isinstance(error, Exception):
            self._said = f"{type(error).__name__}: {error}"
        if (self._last or self._said) and kind not in (Unreachable, Replaced):
            self._write(self._said)

    def __call__(self, pulse: Pulse) -> None:
        """Where the run is."""
        if self._report is not None:
            self._report(pulse)
        self._last = pulse
        self._compiling = min(pulse.seconds_compiling, pulse.seconds)
        if time.monotonic() - self._written >= _SECONDS:
            self._write()

    def left_early(self) -> None:
        """Note it if this process is asked to leave before it has computed anything.

        A job whose time limit is too short for its programs would be queued again and
        again, and nobody would see why the run does not go on.
        """
        if self._last is not None and self._last.is_compiling and self._last.begun <= 1:
            self._said = (
                f"it was stopped after {time.monotonic() - self._start:.0f} s, while "
                "its first program was being compiled: nothing was computed. If this "
                "happens repeatedly, allow it more time"
            )

    def _write(self, error: str | None = None) -> None:
        now = time.monotonic()
        self._written = now
        note = {
            "run": self._store.attributes["run"],
            "began": self._began,
            "ended": self._began + now - self._start,
            "cpu": time.process_time() - self._cpu,
            "compiling": self._compiling,
            **({} if error is None else {"error": error[:_LONGEST], **_here()}),
        }
        with contextlib.suppress(OSError):  # no run is lost for a clock
            self._store.check()
            self._file.write(json.dumps(note).encode())


@dataclasses.dataclass(frozen=True)
class Failure:
    """An error that has ended a process of a run."""

    said: str
    machine: str
    process: int
    at: float
    """In seconds since 1970, by the clock of that machine."""


def failures(store: Store) -> list[Failure]:
    """The errors that processes of a run have left, the last one last."""
    found = []
    for note in _notes(store):
        said, where, process = (note.get(k) for k in ("error", "machine", "process"))
        if type(said) is str and type(where) is str and type(process) is int:
            found.append(Failure(said, where, process, note["ended"]))
    return sorted(found, key=lambda failure: failure.at)


def time_taken(store: Store) -> TimeTaken | None:
    """What the processes of a run have left; None if none did."""
    mine = _notes(store)
    if not mine:
        return None
    total = lambda key: sum(note[key] for note in mine)
    spans = [(note["began"], note["ended"]) for note in mine]
    return TimeTaken(_covered(spans), total("cpu"), total("compiling"), len(mine))


def _notes(store: Store) -> list[dict[str, Any]]:
    """What the processes of a run have left."""
    folder, run = _folder(store), store.attributes["run"]
    with contextlib.suppress(OSError):
        notes = [_read(folder / name) for name in sorted(folder.files())]
        return [note for note in notes if note.get("run") == run]
    return []


def _here() -> dict[str, Any]:
    return {"machine": socket.gethostname(), "process": os.getpid()}


def _folder(store: Store) -> AbstractPlace:
    return store.place.parent / "time_taken"


def _read(file: AbstractPlace) -> dict[str, Any]:
    """What a process has left, nothing if it cannot be understood."""
    try:
        note = parsed(file.read(_MOST_BYTES))
    except (OSError, ValueError):
        return {}
    is_one = isinstance(note, dict) and all(
        type(note.get(key)) in (int, float) and abs(note[key]) < _MOST_SECONDS
        for key in _NUMBERS
    )
    return note if is_one else {}


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """Length of the union of intervals."""
    total, last = 0.0, -math.inf
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, last))
        last = max(last, ended)
    return total


def _words(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 1 else "under 1 s"
