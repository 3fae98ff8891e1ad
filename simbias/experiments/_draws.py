"""Members that have been run, drawn again from their keys."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from simbias.core import AbstractNetwork, Dataset, Experiment
from simbias.ensemble.engine import exact_numerics
from simbias.ensemble.grid import FLOW_PREFIX, make_grid, member_keys


def drawn(
    ds: xr.Dataset, experiment: Experiment, cell: Mapping[str, Any], seed: int
) -> tuple[Dataset, AbstractNetwork]:
    """Sample and initial network of the member `seed` of one cell, to rounding.

    Args:
        ds: the result.
        experiment: one with the `make` and the flow of the result.
        cell: every argument of `make` for this member.
        seed: of the member.
    """
    one = dataclasses.replace(experiment, cell=cell)
    only = make_grid(one).cells[0]
    root = json.loads(ds.attrs["configuration"])["root"]
    with exact_numerics():
        key, _ = member_keys(root, only, seed)
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
            `index` is a place in it, `cell` has every argument of `make` there.
    """
    stored = json.loads(ds.attrs["configuration"])["cell"]
    arguments = [k for k in stored if not k.startswith(FLOW_PREFIX)]
    fixed = {k: ds[k].item() for k in arguments if k in ds and ds[k].ndim == 0}
    axes = [str(k) for k in wanted.dims]
    for place in np.argwhere(wanted.values):
        here = {k: ds[k].values[i].item() for k, i in zip(axes, place, strict=True)}
        cell = fixed | {k: here[k] for k in arguments if k in here}
        data, network = drawn(ds, experiment, cell, here["seed"])
        yield tuple(place.tolist()), cell, data, network
