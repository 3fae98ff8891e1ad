"""Weight decay in a flow: θ' = −∇L(θ) − μθ."""

import dataclasses
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from simbias.core import AbstractFlow, Real
from simbias.validation.values import not_negative

_Flow = TypeVar("_Flow", bound=AbstractFlow)


def check_weight_decay(weight_decay: Real | None) -> None:
    """Raise ValueError unless it is None or at least 0."""
    if weight_decay is not None:
        not_negative("weight_decay", weight_decay)


def without_zero(flow: _Flow) -> _Flow:
    """The flow with None for a `weight_decay` of 0: the same program, the same bits."""
    decay: Any = flow.weight_decay  # pyright: ignore
    is_number = isinstance(decay, (int, float))
    if is_number and decay == 0:
        return dataclasses.replace(flow, weight_decay=None)
    return flow


def traced_decay(weight_decay: Real | None, dtype: jnp.dtype) -> Any:
    """μ in the type of the weights; None stays None."""
    return None if weight_decay is None else jnp.asarray(weight_decay, dtype)


def decayed(
    rate: PyTree, params: PyTree, weight_decay: Float[Array, ""] | None
) -> PyTree:
    """The velocity −∇L − μθ, leaf by leaf, from −∇L and θ."""
    if weight_decay is None:
        return rate
    return jax.tree.map(lambda v, p: v - weight_decay * p, rate, params)
