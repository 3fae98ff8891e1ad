"""What one member has beside its numbers: measures along an axis, and events."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from simbias.report._packed import Packed

# Most numbers of all, most times, and most points along an axis.
_ROOM, _TIMES, _POINTS = 500_000, 60, 512
_EVENTS = ("event_time", "event_neuron", "event_sample", "event_kind")


def arrays_of_members(
    ds: xr.Dataset, lead: tuple[str, ...], packed: Packed, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Measures along one axis of their own, over time where they have it."""
    room = _ROOM
    cells = int(np.prod([ds.sizes[k] for k in lead[:-1]], dtype=int))
    for key, array in ds.data_vars.items():
        name, has_time = str(key), "time" in array.dims
        own = [str(d) for d in array.dims if d not in (*lead, "time")]
        is_one = array.dtype.kind in "iufb" and {*lead} <= {*array.dims}
        if not is_one or len(own) != 1 or name.startswith(("network.", "event_")):
            continue
        size = array.sizes[own[0]]
        if not 2 < size <= _POINTS:
            continue
        order = (*lead, *(["time"] if has_time else []), own[0])
        values = array.transpose(*order).values.astype(float)
        values = values.reshape(cells, *values.shape[len(lead) - 1 :])
        count = ds.sizes["time"]
        at = np.unique(
            np.linspace(0, count - 1, min(count, _TIMES)).round().astype(int)
        )
        if has_time:
            values = values[:, :, at]
        each = values.size // values.shape[1]
        seeds = min(room // max(each, 1), values.shape[1])
        if seeds < values.shape[1]:
            said = (
                f"{seeds} of {values.shape[1]} seeds" if seeds else "no single member"
            )
            notes.append(f"{name} of a member: of {said}.")
        if not seeds:
            continue
        room -= each * seeds
        coordinate = ds[own[0]].values if own[0] in ds.coords else np.arange(size)
        yield {
            "name": name,
            "dim": own[0],
            "hasTime": has_time,
            "at": [f"{v:.4g}" if array_is_number(v) else str(v) for v in coordinate],
            "times": packed.add(np.asarray(ds["time"].values, float)[at]),
            "values": packed.add(values[:, :seeds]),
            "seeds": seeds,
        }


def array_is_number(value: Any) -> bool:
    """True for what `:g` can write."""
    return isinstance(value, (int, float, np.number))


def events(
    ds: xr.Dataset, lead: tuple[str, ...], packed: Packed, notes: list[str]
) -> dict[str, Any] | None:
    """When which neuron met which sample's hyperplane, if the flow wrote it down."""
    if not {*_EVENTS} <= {*map(str, ds.data_vars)}:
        return None
    columns = []
    for name in _EVENTS:
        values = ds[name].transpose(*lead, "event").values.astype(float)
        columns.append(values.reshape(-1, *values.shape[len(lead) - 1 :]))
    longest = int(np.isfinite(columns[0]).sum(axis=-1).max(initial=0))
    cells, seeds, _ = columns[0].shape
    if not longest:
        return None
    kept = min(_ROOM // max(4 * cells * longest, 1), seeds)
    if kept < seeds:
        said = f"{kept} of {seeds} seeds" if kept else "no member: there are too many"
        notes.append(f"Events: of {said}.")
    if not kept:
        return None
    short = ("time", "neuron", "sample", "kind")
    places = [packed.add(c[:, :kept, :longest]) for c in columns]
    return {"seeds": kept, **dict(zip(short, places, strict=True))}
