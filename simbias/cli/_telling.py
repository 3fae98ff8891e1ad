"""How long a run will take, said before it starts, and where it is, for programs.

What a run took is kept beside compiled programs, by experiment: seconds of compiling a
shape, and seconds of a unit of work, which is cost of the field × members × final time
(× 1/rate for descent).  The next run of the experiment is estimated from that; it is
within a factor of two or so where the flow needs as many steps.
"""

import contextlib
import json
import math
import os
import pathlib
from typing import Any

from simbias.cli import _output as output
from simbias.cli._terminal import say
from simbias.ensemble.bar import Pulse
from simbias.ensemble.memory import bytes_of_result
from simbias.ensemble.plan import Plan
from simbias.numerics.cache_folder import cache_folder
from simbias.store.place import AbstractPlace

_LEAST_SECONDS = 1.0


class Teller:
    """Called with where a run is; says what it will take, and learns what it took."""

    def __init__(self, plan: Plan, out: AbstractPlace):
        self._plan, self._out = plan, out
        self._first: Pulse | None = None
        self._last: Pulse | None = None

    def announce(self, described: str, done: int) -> None:
        """A line for the person, and the event `plan`; `done` members are there."""
        plan, seconds = self._plan, estimate(self._plan)
        how_long = "" if seconds is None else f"; about {_words(seconds)}, as last here"
        say(f"{described}{how_long}")
        output.emit(
            "plan",
            experiment=plan.experiment.name,
            run=str(self._out),
            members=plan.size,
            done=done,
            shapes=len(plan.groups),
            result_bytes=bytes_of_result(plan),
            minutes=None if seconds is None else round(seconds / 60, 2),
        )

    def __call__(self, pulse: Pulse) -> None:
        """Where the run is: the events `compiling` and `progress`."""
        self._first = self._first or pulse
        is_new = self._last is None or pulse.begun != self._last.begun
        if pulse.is_compiling and is_new:
            output.emit("compiling", k=pulse.begun, of=pulse.shapes)
        output.emit(
            "progress",
            members=pulse.members,
            done=pulse.done,
            failed=pulse.failed,
            rate=_short(pulse.rate),
            seconds_left=_short(pulse.seconds_left),
        )
        self._last = pulse

    def learn(self, *, in_one: bool) -> None:
        """Keep what a run took that one process has made from its start to its end."""
        last, first = self._last, self._first
        if last is None or first is None or first.done or not in_one:
            return
        if last.done < last.members or last.seconds < _LEAST_SECONDS:
            return
        compiling = min(last.seconds_compiling, last.seconds)
        known = {
            "shape": compiling / max(1, last.shapes),
            "unit": (last.seconds - compiling) / _units(self._plan),
        }
        if (file := _file(self._plan)) is None:
            return
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(known))
            new.replace(file)


def estimate(plan: Plan) -> float | None:
    """Seconds that a run takes, as the last one did; None if there was none."""
    try:
        file = _file(plan)
        known: Any = {} if file is None else json.loads(file.read_text())
        seconds = known["shape"] * len(plan.groups) + known["unit"] * _units(plan)
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _units(plan: Plan) -> float:
    """Work of a plan, up to a factor that is the same for runs of one experiment."""
    rate = getattr(plan.experiment.flow, "rate", None)
    is_number = isinstance(rate, (int, float)) and rate > 0
    final = float(plan.experiment.times[-1]) / (float(rate or 1) if is_number else 1.0)
    return sum(group.cost * group.size for group in plan.groups) * max(final, 1.0)


def _file(plan: Plan) -> pathlib.Path | None:
    name, folder = plan.experiment.name, cache_folder()
    if "://" in folder or not name.isidentifier():
        return None
    flow = type(plan.experiment.flow).__name__
    return pathlib.Path(folder) / "pace" / f"{name}-{flow}.json"


def _words(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
