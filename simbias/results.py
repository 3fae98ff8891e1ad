"""A stored or finished run as an xarray Dataset.

Dimensions: the axes of the grid, in order; `seed`; `time` for trajectories; each
measure's own axes; and `kept`, the times of networks that were kept, for their arrays
`network.NAME`.  What else `make` was given, defaults included, are coordinates without
a dimension: `ds["sigma"]` is there whether σ was an axis or held fixed.
Every variable has a long name and a unit; attributes hold the configuration, and how a
paper may name the run.
"""

import hashlib
import json
import math
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from simbias.core import AT_REST, Status
from simbias.ensemble.array_attributes import FLAGS, array_attributes
from simbias.ensemble.configuration import configuration, provenance, source
from simbias.ensemble.plan import Plan
from simbias.ensemble.table import Table
from simbias.errors import BadInput

if TYPE_CHECKING:
    from simbias.store.evaluations import Evaluation

# An evaluation is spread over a whole run up to so many bytes, or times its own bytes.
_SMALL, _GROWTH = 2**27, 2**15


def attributes(plan: Plan, recipe: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a stored run carries besides its arrays.

    `recipe` is how the command line finds the experiment again, None for your own.
    """
    fields = {**plan.trajectories, **plan.final}
    coords = {k: v for f in fields.values() for k, v in f.coords.items()}
    stored, origin = configuration(plan.experiment), provenance()
    own = source(plan.experiment)
    return {
        "configuration": stored,
        **({} if own is None else {"source": own}),
        "axes": {k: list(v) for k, v in plan.grid.axes.items()},
        "coords": {k: np.asarray(v).tolist() for k, v in coords.items()},
        "recipe": recipe,
        "described": array_attributes(plan),
        "citation": _citation(stored, own, origin["versions"]["simbias"]),
        **origin,
    }


def to_xarray(table: Table, attributes: dict[str, Any]) -> xr.Dataset:
    """Columns with a member axis -> variables over the grid."""
    stored, own = attributes["configuration"], attributes.get("source")
    axes = {k: np.asarray(v) for k, v in attributes["axes"].items()}
    lead = {k: len(v) for k, v in axes.items()} | {"seed": stored["seeds"]}
    variables = {}
    for group, columns in table.groups().items():
        for name, column in columns.items():
            name = f"network.{name}" if group == "networks" else name
            shape = (*lead.values(), *column.values.shape[1:])
            variables[name] = ((*lead, *column.dims), column.values.reshape(shape))
    ds = xr.Dataset(variables)
    ds = ds.assign_coords(axes | {"seed": np.arange(stored["seeds"])})
    ds = ds.assign_coords(time=("time", np.asarray(stored["times"])))
    if table.networks:
        ds = ds.assign_coords(kept=("kept", np.asarray(stored["keep"], np.float64)))
    for name, values in attributes["coords"].items():
        if name in ds.dims:
            ds = ds.assign_coords({name: np.asarray(values)})
    fixed = {k: v for k, v in stored["cell"].items() if k not in axes}
    scalars = (bool, int, float, str)
    ds = ds.assign_coords({k: v for k, v in fixed.items() if isinstance(v, scalars)})
    # A run of an older simbias says nothing of them.
    for name, words in attributes.get("described", {}).items():
        if name in ds.variables:
            ds[name].attrs |= words
    ds["status"].attrs |= FLAGS
    ds["time"].attrs |= {"loss": stored["loss"]}
    ds.attrs = {
        "experiment": stored["name"],
        "configuration": json.dumps(stored),
        "versions": json.dumps(attributes["versions"]),
        "device": attributes["device"],
        "citation": _citation(stored, own, attributes["versions"]["simbias"]),
    }
    if own is not None:
        ds.attrs["source"] = json.dumps(own)
    return ds


def _citation(stored: dict[str, Any], own: dict[str, Any] | None, version: str) -> str:
    """How a paper names a run: with what, and what was asked for, by its digest."""
    whole = stored if own is None else {**stored, "source": own}
    text = json.dumps(whole, sort_keys=True).encode()
    return (
        f"The simbias developers, simbias {version}; run {stored['name']}, "
        f"configuration sha256:{hashlib.sha256(text).hexdigest()[:16]}"
    )


def as_result(ds: xr.Dataset | str | os.PathLike) -> xr.Dataset:
    """A result as it is; that of a folder or URL is opened."""
    return ds if isinstance(ds, xr.Dataset) else open_result(ds)


def open_result(path: str | os.PathLike) -> xr.Dataset:
    """A run that is stored, finished or not.

    Args:
        path: the folder or URL of the run, or of its `run.zarr`.

    Raises:
        ValueError: if it is not a simbias run, or if some of it is damaged.
        OSError: if an object store does not answer.
    """
    # Imported here: zarr is not needed to run in memory.
    from simbias.store.address import place_at
    from simbias.store.evaluations import read_evaluations
    from simbias.store.layout import open_store
    from simbias.store.work import read_so_far

    place = place_at(path)
    if (place / "run.zarr").exists():
        place = place / "run.zarr"
    store = open_store(place)
    table = read_so_far(store)
    try:
        ds = to_xarray(table, store.attributes)
    except Exception as error:  # of any kind: anybody can write attributes
        why = f"{type(error).__name__}: {str(error)[:200]}"
        raise BadInput(f"{place} is damaged: its parts do not fit ({why}).") from error
    for name, found in read_evaluations(store).items():
        if name in ds.variables or name in ds.dims:
            continue  # which no evaluation can be called
        try:
            ds[name] = _over(ds, found)
        except Exception as error:  # of any kind, as above
            why = next(iter(str(error).splitlines()), type(error).__name__)
            warnings.warn(f"evaluation {name!r} is ignored: {why}", stacklevel=2)
    ds.encoding |= {"source": str(store.place), "run": store.attributes["run"]}
    return ds


def _over(ds: xr.Dataset, found: "Evaluation") -> xr.DataArray:
    """An evaluation over the axes of a run, which may have grown since.

    Raises:
        ValueError: for one that would become much larger than it is.
    """
    array = xr.DataArray(found.values, found.coords, found.dims)
    # A run that has grown since has members that were not looked at.
    grown = {k: [v] for k, v in found.cell.items() if k in ds.dims}
    array = array.expand_dims(grown)
    shared = {dim: ds[dim] for dim in array.dims if dim in ds.dims}
    sizes = {**array.sizes, **{dim: one.size for dim, one in shared.items()}}
    most = max(_SMALL, _GROWTH * found.values.nbytes)
    if math.prod(sizes.values()) * found.values.itemsize > most:
        raise BadInput("the run is much larger than what was evaluated.")
    return array.reindex(shared)


def is_finished(ds: xr.Dataset) -> xr.DataArray:
    """True where a member ended well (not failed, not missing)."""
    return ds["status"].isin([Status.REACHED_TIME, *AT_REST])


def is_failed(ds: xr.Dataset) -> xr.DataArray:
    """True where a member ended for a reason of numerics."""
    return ds["status"].isin([int(s) for s in Status if s.is_failure])
