"""Outcomes that are written back into a stored run."""

from typing import Any

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
            "`save` writes into a stored run, and this result is in memory only: give "
            "its folder, or what `open_result` returns, or assign the outcome: "
            f"ds[{name!r}] = simbias.evaluate(…)."
        )
    store = open_store(ds.encoding["source"])
    taken = {*ds.variables, *ds.dims} - {*read_evaluations(store)}
    if not name.isidentifier() or name in taken:
        raise BadInput(
            f"`save` must be a Python identifier that is not in the result, got "
            f"{name!r}."
        )
    for axis in (*store.attributes["axes"], "seed"):
        if axis not in ds.dims:
            raise BadInput(
                f"`save` needs the whole run, and `{axis}` is not an axis of this part "
                "of it. Leave out `save`, or give the whole."
            )
    return store


def write(store: Any, name: str, found: xr.DataArray) -> None:
    """Write an outcome into a store."""
    from simbias.store.evaluations import Evaluation, save_evaluation

    coords = {str(k): found[k].values.tolist() for k in found.dims if k in found.coords}
    dims = tuple(map(str, found.dims))
    save_evaluation(store, name, Evaluation(dims, coords, found.values))
