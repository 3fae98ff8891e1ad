"""How one member is made from its cell: data, network and flow."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import AbstractNetwork, Dataset, Experiment, Make
from simbias.ensemble.grid import Cell
from simbias.ensemble.padding import bucket, padded
from simbias.errors import BadInput
from simbias.introspection.array_network import as_array_network
from simbias.validation.agreement import check_fit, made


@dataclasses.dataclass(frozen=True)
class Maker:
    """What of an experiment decides how its members are drawn."""

    make: Make
    dtype: str
    pad_to: int


def maker(experiment: Experiment) -> Maker:
    """That of an experiment."""
    least = bucket(experiment.pad_to, experiment.flow.pad_to)
    return Maker(experiment.make, experiment.dtype, least)


def draw(
    by: Maker, sizes: Mapping, numbers: Mapping, key: jax.Array
) -> tuple[Dataset, AbstractNetwork]:
    """One member's padded data and initial network, drawn in float64, then cast."""
    data, network = made(by.make(key, **sizes, **numbers))
    check_fit(network, data)
    _check_sizes(data, network)
    data = padded(data, bucket(data.x.shape[0], by.pad_to))
    cast = lambda v: v.astype(jnp.dtype(by.dtype)) if eqx.is_inexact_array(v) else v
    return jax.tree.map(cast, data), jax.tree.map(cast, as_array_network(network))


def _check_sizes(data: Dataset, network: Any) -> None:
    """Refuse an array that no machine can index."""
    for leaf in jax.tree.leaves((data, network)):
        if max(np.shape(leaf), default=0) > np.iinfo(np.int32).max:
            raise BadInput(
                f"`make` returned an array of shape {np.shape(leaf)}, but an axis must "
                "not be longer than 2³¹ − 1. Check the sizes in `cell`."
            )


def member_flow(experiment: Experiment, cell: Cell) -> Any:
    """The flow of a cell: its fields replaced, its numbers to be traced."""
    return traced(dataclasses.replace(experiment.flow, **cell.flow))


def traced(flow: Any) -> Any:
    """The flow with its numbers as arrays: one program serves every tolerance.

    Those that shape something are static fields, and no part of the tree.
    """
    is_number = lambda v: isinstance(v, (bool, int, float))
    array = lambda v: jnp.asarray(np.asarray(v)) if is_number(v) else v
    return jax.tree.map(array, flow.prepared())
