"""The datasets and initial networks of a run, drawn again from their keys."""

import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from simbias.core import AbstractNetwork, Dataset, Experiment
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.initial import initial

Found = TypeVar("Found")


def samples(
    ds: xr.Dataset, experiment: Experiment, wanted: xr.DataArray
) -> Iterator[tuple[tuple[int, ...], dict[str, Any], Dataset]]:
    """(index, cell, sample) of one network after another, as from `starts`."""
    for place, cell, data, _ in starts(ds, experiment, wanted):
        yield place, cell, data


def starts(
    ds: xr.Dataset, experiment: Experiment, wanted: xr.DataArray
) -> Iterator[tuple[tuple[int, ...], dict[str, Any], Dataset, AbstractNetwork]]:
    """(index, cell, sample, initial network), each drawn when it is needed.

    Args:
        ds: the result.
        experiment: one with the `make` of the result.
        wanted: over axes of the grid and `seed`; true for the members that are drawn.
            `index` is a place in it, `cell` has every argument of `make` there.
    """
    axes = [str(k) for k in wanted.dims]
    for place in np.argwhere(wanted.values):
        one = ds.isel(dict(zip(axes, place.tolist(), strict=True)))
        data, network = initial(one, experiment, seed=int(one["seed"]))
        cell = {str(k): v.item() for k, v in one.coords.items() if v.ndim == 0}
        yield tuple(place.tolist()), cell, data, network


def once_a_sample(function: Callable[[Dataset], Found]) -> Callable[[Dataset], Found]:
    """The function, computed once for datasets of equal inputs, labels and weights.

    Figure and claims ask for the same samples, and so do networks that share theirs.
    """
    known: dict[bytes, Found] = {}

    @functools.wraps(function)
    def cached(data: Dataset) -> Found:
        arrays = [np.asarray(v).tobytes() for v in (data.x, data.y, data.weight)]
        key = hashlib.sha256(b"".join(arrays)).digest()
        if key not in known:
            with exact_numerics():
                known[key] = function(data)
        return known[key]

    return cached
