"""Members that have been run, drawn again from their keys."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import AbstractNetwork, Dataset, Experiment
from simbias.ensemble.engine import exact_numerics
from simbias.ensemble.grid import make_grid, member_keys


def drawn(
    ds: xr.Dataset, experiment: Experiment, cell: Mapping[str, Any], seed: int
) -> tuple[Dataset, AbstractNetwork]:
    """Sample and initial network of the member `seed` of one cell, to rounding.

    Args:
        ds: the result.
        experiment: one with the `make` and the flow of the result.
        cell: values of the member's cell that differ from the fixed ones of `ds`.
        seed: of the member.
    """
    stored = json.loads(ds.attrs["configuration"])
    fixed = {k: v for k, v in stored["cell"].items() if not isinstance(v, list)}
    one = dataclasses.replace(experiment, cell={**fixed, **cell})
    only = make_grid(one).cells[0]
    with exact_numerics():
        key, _ = member_keys(stored["root"], only, seed)
        return one.make(key, **only.arguments)


def samples(
    ds: xr.Dataset, experiment: Experiment, wanted: xr.DataArray
) -> Iterator[tuple[tuple[int, ...], dict[str, Any], Dataset]]:
    """(index, cell, sample) of one member after another, as `starts` has them."""
    for place, cell, data, _ in starts(ds, experiment, wanted):
        yield place, cell, data


def starts(
    ds: xr.Dataset, experiment: Experiment, wanted: xr.DataArray
) -> Iterator[tuple[tuple[int, ...], dict[str, Any], Dataset, AbstractNetwork]]:
    """(index, cell, sample, initial network), drawn when it is asked for.

    Args:
        ds: the result.
        experiment: one with the `make` and the flow of the result.
        wanted: over axes of the grid and `seed`; true for the members that are drawn.
            `index` is a place in it, `cell` has the values of its other axes there.
    """
    axes = [str(k) for k in wanted.dims]
    for place in np.argwhere(wanted.values):
        cell = {k: ds[k].values[i].item() for k, i in zip(axes, place, strict=True)}
        data, network = drawn(ds, experiment, cell, cell.pop("seed"))
        yield tuple(place.tolist()), cell, data, network
