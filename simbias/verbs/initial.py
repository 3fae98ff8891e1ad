"""A member of a result at time 0: its sample and its network, drawn again."""

import os
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.core import CellValue, Dataset, Experiment
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.ensemble.keys import member_keys
from simbias.errors import BadInput
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import as_result
from simbias.verbs.origin import drawn_cell, origin, root_and_dtype, values_of


def initial(
    ds: xr.Dataset | str | os.PathLike,
    experiment: Experiment | None = None,
    *,
    seed: int = 0,
    **where: CellValue,
) -> tuple[Dataset, Any]:
    """The sample and the initial network of one member, from its key.

        data, network = simbias.initial(ds, n=20, seed=3)

    The same numbers as in the run up to rounding, which compiled programs of another
    size do otherwise; in the precision of the run.  The sample is not padded.

    Args:
        ds: a result, a part of one, or the folder or URL of a run.
        experiment: of that law: the one that was run, or another of the same `make`;
            None for one of `simbias.experiments`.
        seed: of the member.
        where: the value on every axis of the grid; those of the flow do not matter,
            nor those that have one value.

    Raises:
        ValueError: for a member that the result does not hold, or another `make`.
    """
    ds = as_result(ds)
    experiment = origin(ds, experiment, ("make",))
    arguments = {
        k: v for k, v in values_of(ds).items() if not k.startswith(FLOW_PREFIX)
    }
    cell = one_cell(arguments, where)
    one_of("seed", np.atleast_1d(ds["seed"].values).tolist(), seed)
    only = drawn_cell(experiment, cell)
    root, dtype = root_and_dtype(ds)
    with exact_numerics():
        key, _ = member_keys(root, only, seed)
        drawn = experiment.make(key, **only.arguments)
        return jax.tree.map(lambda leaf: _cast(leaf, dtype), drawn)


def one_cell(
    known: dict[str, list[CellValue]], where: dict[str, CellValue]
) -> dict[str, CellValue]:
    """A value for every key of the cell: the one that is asked for, or the only one.

    Raises:
        ValueError: naming the key.
    """
    if unknown := {*where} - {*known}:
        raise BadInput(
            f"`{unknown.pop()}` is not an argument of `make` or a field of the flow in "
            f"this run. Known: {', '.join(known)}."
        )
    return {key: one_of(key, values, where.get(key)) for key, values in known.items()}


def one_of(name: str, known: list[Any], wanted: Any) -> Any:
    """What is wanted of what there is, or the only one if nothing is.

    Raises:
        ValueError: naming it.
    """
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is None or np.ndim(wanted) or wanted not in known:
        got = "" if wanted is None else f", got {wanted!r}"
        raise BadInput(f"`{name}` must be one of {known}{got}.")
    return known[known.index(wanted)]


def _cast(leaf: Any, dtype: str) -> Any:
    is_float = eqx.is_inexact_array(leaf)
    return leaf.astype(jnp.dtype(dtype)) if is_float else leaf
