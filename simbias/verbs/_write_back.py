"""Outcomes that are written back into a stored run."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from simbias.errors import BadInput


def writable(ds: xr.Dataset, name: str) -> Any:
    """The store of a result, if something of that name may be written into it.

    Raises:
        ValueError: for a name that is taken, or a result that is not a whole stored
            run.
    """
    # Imported here: zarr is not needed for results in memory.
    from simbias.store.evaluations import read_evaluations
    from simbias.store.layout import open_store

    if "source" not in ds.encoding:
        raise BadInput(
            "`save` writes into a stored run, but this result is only in memory. Give "
            "the folder of the run or the result of `open_result`, or assign the "
            f"values: ds[{name!r}] = simbias.evaluate(…)."
        )
    store = open_store(ds.encoding["source"])
    if store.attributes["run"] != ds.encoding.get("run"):
        raise BadInput(
            f"the run in {ds.encoding['source']} was replaced since this result was "
            "read. Open it again with open_result."
        )
    taken = {*ds.variables, *ds.dims} - {*read_evaluations(store)}
    if not name.isidentifier() or name in taken:
        raise BadInput(
            "`save` must be a Python identifier that the result does not use yet, got "
            f"{name!r}. Example: save='norm'."
        )
    stored = store.attributes["configuration"]
    whole = {**store.attributes["axes"], "seed": range(stored["seeds"])}
    if stored["keep"]:
        whole["kept"] = stored["keep"]
    for axis, values in whole.items():
        places = ds[axis].values.tolist() if axis in ds.dims else None
        if places != np.asarray(values).tolist():
            raise BadInput(
                f"`save` needs the whole run, but this is a part of it along `{axis}`. "
                "Leave out `save`, or give the whole result."
            )
    return store


def check_axes(ds: xr.Dataset, store: Any, name: str, axes: Mapping[str, list]) -> None:
    """Refuse an axis that the run, or another outcome of it, has with other values.

    Raises:
        ValueError: naming the axis.
    """
    from simbias.store.evaluations import read_evaluations

    others = {other: ds[other] for other in ds.data_vars if other != name}
    for other, found in read_evaluations(store).items():
        if other != name:
            others[other] = xr.DataArray(found.values, found.coords, found.dims)
    for other, array in others.items():
        for axis in {*axes} & {*array.dims}:
            theirs = array[axis].values.tolist()  # 0, 1, … without a coordinate
            if axes[axis] != theirs:
                raise BadInput(
                    f"`save`: {other!r} of this run has the axis `{axis}` with the "
                    f"values {theirs}, but {name!r} has {axes[axis]}. Give both the "
                    "same values, or rename the axis of your function (`dims`)."
                )


def write(store: Any, name: str, found: xr.DataArray, cell: dict[str, Any]) -> None:
    """Write an outcome into a store; `cell` is what is no axis of the run yet."""
    from simbias.store.evaluations import Evaluation, save_evaluation

    coords = {str(k): found[k].values.tolist() for k in found.dims if k in found.coords}
    dims = tuple(map(str, found.dims))
    save_evaluation(store, name, Evaluation(dims, coords, found.values, cell))
