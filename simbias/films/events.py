"""Events of an exact flow beside the records of a film."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from simbias.core import EventKind
from simbias.verbs.kept_networks import one_of_each

CROSSING = (EventKind.CROSSES_UP, EventKind.CROSSES_DOWN)
LEAVING = (EventKind.LEAVES_UP, EventKind.LEAVES_DOWN)
# An event is shown for this share of the records.
_SHOWN = 1 / 40


@dataclasses.dataclass(frozen=True)
class Events:
    """Events of one member in the order of their times."""

    time: Float[np.ndarray, " e"]
    layer: Int[np.ndarray, " e"]
    neuron: Int[np.ndarray, " e"]
    sample: Int[np.ndarray, " e"]
    kind: Int[np.ndarray, " e"]

    def times_of(self, *kinds: EventKind) -> Float[np.ndarray, " f"]:
        """Times of the events of some kinds."""
        return self.time[np.isin(self.kind, kinds)]

    def sliding(self, now: float) -> set[tuple[int, int, int]]:
        """Layer, neuron and sample of the pre-activations that slide at a time."""
        out: set[tuple[int, int, int]] = set()
        passed = self.time <= now
        rows = (v[passed].tolist() for v in (self.layer, self.neuron, self.sample))
        for place, kind in zip(zip(*rows, strict=True), self.kind[passed], strict=True):
            if kind == EventKind.SLIDES:
                out.add(place)
            else:
                out.discard(place)
        return out

    def recent(
        self, times: Float[np.ndarray, " t"], record: int, kinds: tuple[EventKind, ...]
    ) -> Int[np.ndarray, " s"]:
        """Samples with an event of some kinds in the last records."""
        first = max(record - max(1, round(_SHOWN * len(times))), 0)
        is_now = (self.time > times[first]) & (self.time <= times[record])
        return np.unique(self.sample[is_now & np.isin(self.kind, kinds)])


def events_of(values: Mapping[str, np.ndarray]) -> Events | None:
    """Of arrays `event_time`, `event_layer`, …, NaN where there is no event."""
    if not {"event_time", "event_layer"} <= set(values):
        return None
    is_one = np.isfinite(values["event_time"])
    number = lambda name: values[f"event_{name}"][is_one].astype(np.int64)
    names = ("layer", "neuron", "sample", "kind")
    parts = {name: number(name) for name in names}
    return Events(time=values["event_time"][is_one].astype(float), **parts)


def recorded_events(ds: xr.Dataset, place: Mapping[str, Any]) -> Events | None:
    """Events that a run of `DeepReluFlow(events=…)` recorded of a member."""
    names = [str(name) for name in ds.data_vars if str(name).startswith("event_")]
    return events_of({name: one_of_each(ds[name], place) for name in names})
