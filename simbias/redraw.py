"""A member of a result at time 0: its sample and its network, drawn again."""

import json
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.configuration import configuration
from simbias.core import CellValue, Dataset, Experiment
from simbias.ensemble.engine import exact_numerics
from simbias.ensemble.grid import FLOW_PREFIX, make_cell, member_keys
from simbias.errors import BadInput


def redraw(
    ds: xr.Dataset, experiment: Experiment, *, seed: int = 0, **where: CellValue
) -> tuple[Dataset, Any]:
    """The sample and the initial network of one member, from its key.

        data, network = simbias.redraw(ds, experiment, n=20, seed=3)
        simbias.solve(network, data, experiment.flow, experiment.loss, (10.0,), {})

    The same numbers as in the run up to rounding, which compiled programs of another
    size do otherwise; in the precision of the run.  The sample is not padded.

    Args:
        ds: a result, or a part of one.
        experiment: of that law: the one that was run, or another of the same `make`.
        seed: of the member.
        where: the value on every axis of the grid; those of the flow do not matter,
            nor those that have one value.

    Raises:
        ValueError: for a member that the result does not hold, or another `make`.
    """
    stored = json.loads(ds.attrs["configuration"])
    ours = configuration(experiment)["make"]
    if stored["make"] != ours:
        raise BadInput(
            f"the result was made by {stored['make']}, and `experiment` draws by "
            f"{ours}."
        )
    arguments = [k for k in stored["cell"] if not k.startswith(FLOW_PREFIX)]
    if unknown := {*where} - {*arguments}:
        raise BadInput(
            f"`{unknown.pop()}` is not known here. Known: {', '.join(arguments)}."
        )
    cell = {
        key: _on_axis(key, ds[key].values, where.get(key))
        for key in arguments
        if key in ds.coords
    }
    _on_axis("seed", ds["seed"].values, seed)
    only = make_cell(experiment.make, cell)
    with exact_numerics():
        key, _ = member_keys(stored["root"], only, seed)
        drawn = experiment.make(key, **only.arguments)
        return jax.tree.map(lambda leaf: _cast(leaf, stored["dtype"]), drawn)


def _on_axis(name: str, values: np.ndarray, wanted: CellValue | None) -> CellValue:
    known = np.atleast_1d(values).tolist()
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is None or wanted not in known:
        got = "" if wanted is None else f", got {wanted!r}"
        raise BadInput(f"`{name}` must be one of {known}{got}.")
    return known[known.index(wanted)]


def _cast(leaf: Any, dtype: str) -> Any:
    is_float = eqx.is_inexact_array(leaf)
    return leaf.astype(jnp.dtype(dtype)) if is_float else leaf
