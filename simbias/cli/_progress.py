"""How long a run will take, said before it starts, and where it is, for programs.

What a run took is kept beside compiled programs, by experiment: seconds of compiling a
shape, of one network besides its steps, and of one unit of steps on one core.  A unit
is cost of the field × steps; a flow that chooses its steps has the final time in their
place.  The next run of the experiment is estimated from these rates, within a factor of
two or so.  There is no estimate where the final time of such a flow is another one by
more than a factor of three, for its steps are not in proportion.
"""

import json
import math
import pathlib
from typing import Any

import jax

from simbias.cli import _output as output
from simbias.cli._terminal import say
from simbias.ensemble.bar import Pulse
from simbias.ensemble.durations import about
from simbias.ensemble.grid import Cell
from simbias.ensemble.memory import bytes_of_result, station_devices
from simbias.ensemble.plan import Plan
from simbias.numerics.cache_folder import cache_folder, write_whole
from simbias.store.place import AbstractPlace

_LEAST_SECONDS = 1.0
_EARLIER = "as earlier runs on this machine took"
# Final times within this factor need about as many steps per unit of time.
_ALIKE = 3.0
_TINY = 1e-300


class ProgressReporter:
    """Called with where a run is; says what it will take, and learns what it took."""

    def __init__(self, plan: Plan, out: AbstractPlace):
        self._plan, self._out = plan, out
        self._first: Pulse | None = None
        self._last: Pulse | None = None

    def announce(self, described: str, done: int) -> None:
        """A line for the person, and the event `plan`; `done` members are there."""
        plan, seconds = self._plan, estimate(self._plan)
        how_long = "" if seconds is None else f"; {about(seconds)}, {_EARLIER}"
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
        last, first, plan = self._last, self._first, self._plan
        if last is None or first is None or first.done or not in_one:
            return
        # A few steps take as long as their call, and teach nothing of many.
        if last.done < last.members or last.seconds_stepping < _LEAST_SECONDS:
            return
        compiling = min(last.seconds_compiling, last.seconds)
        rest = last.seconds - compiling - last.seconds_stepping / _stations(plan)
        known = {
            "shape": compiling / max(1, last.shapes),
            "network": max(0.0, rest) / plan.size,
            "unit": last.seconds_stepping / _units(plan),
            "final": float(plan.experiment.times[-1]),
        }
        if (file := _file(self._plan)) is None:
            return
        write_whole(file, json.dumps(known))


def estimate(plan: Plan) -> float | None:
    """Seconds that a run takes at the rates of the last one; None if they do not say.

    They say nothing before there was a run, and of a flow that chooses its steps
    nothing where it ends at another time by more than a factor of three.
    """
    try:
        file = _file(plan)
        known: Any = {} if file is None else json.loads(file.read_text())
        stepping = known["unit"] * _units(plan) / _stations(plan)
        seconds = known["shape"] * len(plan.groups) + known["network"] * plan.size
        ratio = float(plan.experiment.times[-1]) / known["final"]
    except (OSError, ValueError, TypeError, KeyError, ZeroDivisionError):
        return None
    seconds += stepping
    if not (math.isfinite(seconds) and seconds >= 0):
        return None
    is_alike = 1 / _ALIKE <= ratio <= _ALIKE
    return seconds if is_alike or _rate(plan, plan.grid.cells[0]) else None


def _units(plan: Plan) -> float:
    """Steps of all members, each times the cost of the field.

    Where a flow chooses its steps the final time stands for their number.
    """
    final, seeds = float(plan.experiment.times[-1]), int(plan.seeds)
    total = 0.0
    for group in plan.groups:
        for span in group.spans:
            rate = _rate(plan, plan.grid.cells[span.start // seeds]) or 1.0
            total += group.cost * len(span) * max(final / rate, _TINY)
    return total


def _rate(plan: Plan, cell: Cell) -> float | None:
    """Learning rate of a cell, by which the number of steps is known."""
    rate: Any = cell.flow.get("rate", getattr(plan.experiment.flow, "rate", None))
    is_number = isinstance(rate, (int, float)) and rate > 0
    return float(rate) if is_number else None


def _stations(plan: Plan) -> int:
    return len(station_devices(jax.local_devices(), plan.size))


def _file(plan: Plan) -> pathlib.Path | None:
    name, folder = plan.experiment.name, cache_folder()
    if "://" in folder or not name.isidentifier():
        return None
    flow = type(plan.experiment.flow).__name__
    return pathlib.Path(folder) / "pace" / f"{name}-{flow}.json"


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
