"""What one member has beside its numbers: measures along an axis, and events."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from simbias.report._packed_numbers import PackedNumbers
from simbias.report._shares import are_shares

# Most numbers of all, most times, and most points along an axis.
_ROOM, _TIMES, _POINTS = 500_000, 60, 512
_EVENTS = ("event_time", "event_neuron", "event_sample", "event_kind")


def arrays_of_members(
    ds: xr.Dataset, lead: tuple[str, ...], packed: PackedNumbers, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Measures along an axis of their own, over time or across a second one."""
    room = _ROOM
    cells = int(np.prod([ds.sizes[k] for k in lead[:-1]], dtype=int))
    seeds = ds.sizes["seed"]
    for key, array in ds.data_vars.items():
        name = str(key)
        is_one = array.dtype.kind in "iufb" and {*lead} <= {*array.dims}
        if not is_one or name.startswith(("network.", "event_")):
            continue
        across, along = _axes([str(dim) for dim in array.dims if dim not in lead])
        if not along or not 2 < array.sizes[along] <= _POINTS:
            continue
        if across:
            count = array.sizes[across]
            at = np.linspace(0, count - 1, min(count, _TIMES)).round().astype(int)
            array = array.isel({across: np.unique(at)})
        values = array.transpose(*lead, *([across] if across else []), along)
        values = values.values.astype(float).reshape(cells, seeds, -1)
        kept = min(room // (values.size // seeds), seeds)
        if kept < seeds:
            said = f"{kept} of {seeds} seeds" if kept else "no single network"
            notes.append(f"{name} of a network: of {said}.")
        if not kept:
            continue
        room -= kept * (values.size // seeds)
        yield {
            "name": name,
            "dim": along,
            "at": _texts(array, along),
            "across": across,
            "places": _texts(array, across) if across else ["at the end"],
            "values": packed.add(values[:, :kept]),
            "areShares": are_shares(values.reshape(-1, array.sizes[along])),
            "seeds": kept,
        }


def _axes(own: list[str]) -> tuple[str, str]:
    """The axis that a picture goes across, "" if none, and that it goes along."""
    if "time" in own:
        own = ["time", *(dim for dim in own if dim != "time")]
    elif len(own) == 1:
        own = ["", *own]
    return (own[0], own[1]) if len(own) == 2 else ("", "")


def _texts(array: xr.DataArray, dim: str) -> list[str]:
    """Where the values along an axis are, as they are written."""
    if dim not in array.coords:
        return [str(i) for i in range(array.sizes[dim])]
    values = array[dim].values
    is_number = values.dtype.kind in "iuf"
    return [f"{v:.4g}" if is_number else str(v) for v in values]


def events(
    ds: xr.Dataset, lead: tuple[str, ...], packed: PackedNumbers, notes: list[str]
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
        said = f"{kept} of {seeds} seeds" if kept else "no network: there are too many"
        notes.append(f"Events: of {said}.")
    if not kept:
        return None
    short = ("time", "neuron", "sample", "kind")
    places = [packed.add(c[:, :kept, :longest]) for c in columns]
    return {"seeds": kept, **dict(zip(short, places, strict=True))}
