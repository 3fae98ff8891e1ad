"""The arrays of kept networks in a result."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from simbias.errors import BadInput

_PREFIX = "network."


def arrays_of(ds: xr.Dataset) -> dict[str, xr.DataArray]:
    """Every array of the networks, by its name in the network.

    Raises:
        ValueError: for a result without any.
    """
    found = {
        str(name).removeprefix(_PREFIX): ds[name]
        for name in ds.data_vars
        if str(name).startswith(_PREFIX)
    }
    if not found:
        raise BadInput(
            "no networks are stored in the result. Give the times at which to store "
            "them, and run it again. Example: keep=(0.0, 100.0), or --keep 0 100."
        )
    return found


def check_shapes(
    wanted: Mapping[str, tuple[int, ...]], kept: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse networks that are not those that were kept.

    Args:
        wanted: shape of every array of the network that `make` gives.
        kept: of those in the result, which is the largest of its cells.

    Raises:
        ValueError: for other arrays, or larger ones.
    """
    fits = lambda one, room: len(one) == len(room) and all(np.less_equal(one, room))
    is_same = {*wanted} == {*kept} and all(fits(wanted[k], kept[k]) for k in wanted)
    if not is_same:
        raise BadInput(
            "`make` of the experiment gives other networks than those stored in the "
            f"run: it makes arrays of shapes {dict(wanted)}, the run has "
            f"{dict(kept)}. Give the experiment of the run."
        )


def one_of_each(array: xr.DataArray, place: Mapping[str, Any]) -> np.ndarray:
    """The values where every axis that is named has the value that is given."""
    index = {
        name: int(np.flatnonzero(array[name].values == value)[0])
        for name, value in place.items()
        if name in array.dims
    }
    return array.isel(index).values


def is_whole(leaves: Mapping[str, np.ndarray]) -> np.ndarray:
    """Which networks, stacked along the first axis, were reached and are finite."""
    whole = [
        np.isfinite(v.reshape(v.shape[0], -1)).all(axis=1)
        for v in leaves.values()
        if v.dtype.kind == "f"
    ]
    return np.logical_and.reduce(whole)
