"""Events of a trajectory, from the record of the exact flow."""

import dataclasses
from typing import NamedTuple

import numpy as np

from simbias.core import EventKind

_RELEASES = (EventKind.LEAVES_UP, EventKind.LEAVES_DOWN)
_UPWARDS = (EventKind.CROSSES_UP, EventKind.LEAVES_UP)


class Change(NamedTuple):
    """What one event does to one neuron on one sample."""

    sample: int
    kind: int


@dataclasses.dataclass(frozen=True)
class Event:
    """A neuron meets a boundary, or is let go from one.

    Attributes:
        time: as recorded; that of a release is late by up to a step.
        neuron: whose event it is.
        changes: the first is the cause.  If the neuron meets a boundary, the others are
            releases from boundaries on which it slid until then.
    """

    time: float
    neuron: int
    changes: tuple[Change, ...]

    @property
    def cause(self) -> Change:
        """Where the event happens."""
        return self.changes[0]

    @property
    def is_release(self) -> bool:
        """Whether the neuron is let go though it meets nothing."""
        return self.cause.kind in _RELEASES

    def may_precede(self, other: "Event") -> bool:
        """Whether `other`, recorded earlier, can have happened later than this."""
        mine = {one.sample for one in self.changes}
        return self.neuron != other.neuron or not mine & {
            one.sample for one in other.changes
        }


def read_events(log: np.ndarray) -> list[Event]:
    """Events in the order of their recorded times.

    A release at exactly the time at which the same neuron meets a boundary is part of
    that event, whichever stands first in the record.

    Args:
        log: rows (time, neuron, sample, kind).
    """
    together: dict[tuple[float, int], list[Change]] = {}
    for time, neuron, sample, kind in log:
        changes = together.setdefault((float(time), int(neuron)), [])
        changes.append(Change(int(sample), int(kind)))
    events: list[Event] = []
    for (time, neuron), changes in sorted(together.items(), key=lambda item: item[0]):
        meets = [one for one in changes if one.kind not in _RELEASES]
        let_go = [one for one in changes if one.kind in _RELEASES]
        with_last = tuple(let_go) if meets else ()
        parts = [[one] for one in meets or let_go]
        parts[-1] += with_last
        events += [Event(time, neuron, tuple(part)) for part in parts]
    return events


@dataclasses.dataclass
class Sides:
    """Slope of every neuron on every sample, and the samples on which it slides."""

    gate: np.ndarray
    pins: list[list[int]]
    slope: float

    def copy(self) -> "Sides":
        """Another one, which may change by itself."""
        return Sides(self.gate.copy(), [list(row) for row in self.pins], self.slope)

    def change(self, event: Event) -> None:
        """To what they are after an event."""
        j = event.neuron
        for i, kind in event.changes:
            if kind == EventKind.SLIDES:
                self.pins[j].append(i)
                continue
            if i in self.pins[j]:
                self.pins[j].remove(i)
            self.gate[j, i] = 1.0 if kind in _UPWARDS else self.slope


def most_pins(events: list[Event], m: int) -> int:
    """The most samples on which a neuron slides at a time, at least 1.

    Releases are recorded late, so that events put in their true order need no more.
    """
    now, most = [0] * m, 1
    for event in events:
        for _, kind in event.changes:
            if kind == EventKind.SLIDES:
                now[event.neuron] += 1
                most = max(most, now[event.neuron])
            elif kind in _RELEASES:
                now[event.neuron] -= 1
    return most
