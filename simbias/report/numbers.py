"""The numbers of a result that a page draws from: packed once, thinned if many."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import Experiment, Status
from simbias.ensemble.array_attributes import COUNTS
from simbias.report._films import films
from simbias.report._members import arrays_of_members, events
from simbias.report._packed_numbers import PackedNumbers
from simbias.report._quantiles import quantiles
from simbias.report._shares import are_shares
from simbias.results import is_finished

# Most single numbers of members, and of bands over seeds.
MEMBERS, BANDS = 1_500_000, 2_000_000
# Components of a measure that are quantities of their own, and most points of a curve
# along an axis of its own.
_COMPONENTS, _PROFILE = 12, 512
_LOSS = ("loss", "risk", "error")


@dataclasses.dataclass(frozen=True)
class _Quantity:
    """A number of every member, (cell, seed) or (cell, seed, time)."""

    name: str
    long: str
    units: str
    has_time: bool
    values: np.ndarray

    @property
    def is_loss(self) -> bool:
        return any(word in self.name for word in _LOSS)

    @property
    def is_of_solver(self) -> bool:
        """Whether it says what the solver did, not what the network is."""
        return self.name in (*COUNTS, "end_time")

    @property
    def title(self) -> str:
        """Its name in words."""
        return self.long if self.is_of_solver else self.name.replace("_", " ")


def numbers(ds: xr.Dataset, experiment: Experiment | None = None) -> dict[str, Any]:
    """What the script of a page reads, as JSON-ready data.

    Bands are the median and the central 80 % over the members of a cell that finished.
    Single members are those of the first seeds, as many as there is room for; `notes`
    says what was left out.
    """
    packed, notes = PackedNumbers(), []
    axes = [str(dim) for dim in ds["status"].dims if dim != "seed"]
    lead = (*axes, "seed")
    seeds = ds.sizes["seed"]
    status = _flat(ds["status"], lead).astype(np.uint8)
    is_good = _flat(is_finished(ds), lead)
    found = sorted(_quantities(ds, lead), key=_order)
    quantities, room = [], BANDS
    for quantity in found:
        room -= 4 * quantity.values.size // seeds
        if room >= 0:
            quantities.append(quantity)
    if len(quantities) < len(found):
        names = ", ".join(q.name for q in found if q not in quantities)
        notes.append(f"Left out for their size: {names}.")
    per_seed = sum(q.values.size // seeds for q in quantities) or 1
    shown = int(np.clip(MEMBERS // per_seed, 1, seeds))
    if shown < seeds:
        notes.append(
            f"Single networks are those of the first {shown} of {seeds} seeds; bands "
            "and tables are of all of them."
        )
    return {
        "name": str(ds.attrs.get("experiment", "run")),
        "axes": [_axis(ds, name) for name in axes],
        "seeds": [int(seed) for seed in ds["seed"].values[:shown]],
        "members": seeds,
        "times": packed.add(np.asarray(ds["time"].values, float)),
        "status": packed.add(status),
        "statuses": [one.name for one in Status],
        "quantities": [_of(q, packed, is_good, shown) for q in quantities],
        "profiles": list(_profiles(ds, lead, packed, is_good)),
        "films": films(ds, experiment, lead, packed, notes),
        "arrays": list(arrays_of_members(ds, lead, packed, notes)),
        "events": events(ds, lead, packed, notes),
        "notes": notes,
        "packed": packed.text(),
    }


def _axis(ds: xr.Dataset, name: str) -> dict[str, Any]:
    values = ds[name].values.tolist()
    is_number = ds[name].dtype.kind in "iuf"
    text = [f"{v:g}" if is_number else str(v) for v in values]
    return {"name": name, "values": values if is_number else text, "texts": text} | {
        "isNumber": is_number
    }


def _flat(array: xr.DataArray, lead: tuple[str, ...]) -> np.ndarray:
    """Values over (cell, seed, …)."""
    array = array.transpose(*lead, ...)
    shape = array.shape
    cells = int(np.prod(shape[: len(lead) - 1], dtype=int))
    return array.values.reshape(cells, *shape[len(lead) - 1 :])


def _quantities(ds: xr.Dataset, lead: tuple[str, ...]) -> Iterator[_Quantity]:
    for key, array in ds.data_vars.items():
        name = str(key)
        if not is_drawn(name, array, lead):
            continue
        own = [dim for dim in map(str, array.dims) if dim not in (*lead, "time")]
        sizes = [array.sizes[dim] for dim in own]
        if np.prod(sizes, dtype=int) > _COMPONENTS:
            continue
        has_time = "time" in array.dims
        long, units = (array.attrs.get(k, "") for k in ("long_name", "units"))
        for place in np.ndindex(*sizes):
            part = array.isel(dict(zip(own, place, strict=True)))
            where = [
                f"{dim} = {_value(ds, dim, i)}"
                for dim, i in zip(own, place, strict=True)
            ]
            part = part.transpose(*lead, ..., *(["time"] if has_time else []))
            values = _flat(part, lead).astype(float)
            yield _Quantity(", ".join([name, *where]), long, units, has_time, values)


def is_drawn(name: str, array: xr.DataArray, lead: tuple[str, ...]) -> bool:
    """True for numbers of every member that are neither networks nor events."""
    is_number = array.dtype.kind in "iufb"
    is_other = name == "status" or name.startswith(("network.", "event_"))
    return is_number and not is_other and {*lead} <= {*array.dims}


def _value(ds: xr.Dataset, dim: str, i: int) -> str:
    value = ds[dim].values[i] if dim in ds.coords else i
    return f"{value:g}" if isinstance(value, (int, float, np.number)) else str(value)


def _order(quantity: _Quantity) -> tuple[bool, ...]:
    """What the solver did last, before it what is known of the end only, counts last.

    Losses are first, of tests before all.
    """
    is_count = not quantity.has_time and bool(
        np.all(np.isnan(quantity.values) | (quantity.values % 1 == 0))
    )
    is_test = quantity.is_loss and quantity.name.startswith("test")
    is_last = quantity.is_of_solver, not quantity.has_time, is_count
    return *is_last, not quantity.is_loss, not is_test


def _of(
    quantity: _Quantity, packed: PackedNumbers, is_good: np.ndarray, shown: int
) -> dict[str, Any]:
    values = quantity.values
    low, middle, high, count = quantiles(values, is_good)
    return {
        "name": quantity.name,
        "title": quantity.title,
        "long": quantity.long,
        "units": quantity.units,
        "hasTime": quantity.has_time,
        "isLoss": quantity.is_loss,
        "isOfSolver": quantity.is_of_solver,
        "low": packed.add(low),
        "middle": packed.add(middle),
        "high": packed.add(high),
        "count": packed.add(count.astype(np.float32)),
        "members": packed.add(values[:, :shown]),
    }


def _profiles(
    ds: xr.Dataset, lead: tuple[str, ...], packed: PackedNumbers, is_good: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Measures along an axis of their own, at the final time."""
    for key, array in ds.data_vars.items():
        if not is_drawn(str(key), array, lead):
            continue
        if "time" in array.dims:
            array = array.isel(time=-1)
        own = [str(dim) for dim in array.dims if dim not in lead]
        if len(own) != 1 or not 2 < array.sizes[own[0]] <= _PROFILE:
            continue
        coordinate = ds[own[0]].values if own[0] in ds.coords else None
        if coordinate is None or coordinate.dtype.kind not in "iuf":
            coordinate = np.arange(array.sizes[own[0]])
        values = _flat(array.transpose(*lead, *own), lead).astype(float)
        if values.size // ds.sizes["seed"] > BANDS // 8:
            continue
        low, middle, high, count = quantiles(values, is_good)
        yield {
            "name": str(key),
            "title": str(key).replace("_", " "),
            "long": array.attrs.get("long_name", ""),
            "areShares": are_shares(values),
            "dim": own[0],
            "at": packed.add(np.asarray(coordinate, float)),
            "low": packed.add(low),
            "middle": packed.add(middle),
            "high": packed.add(high),
            "count": packed.add(count.astype(np.float32)),
        }
