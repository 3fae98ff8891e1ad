"""Members that have been run, drawn again from their keys."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

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
