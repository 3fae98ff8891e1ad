"""Samples without randomness, on a line with a constant second input."""

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset


def fixed_sample(
    x: Float[Array, " n"], y: Sequence[float] | Float[Array, " n"]
) -> Dataset:
    """Inputs (x, 1), targets without noise, no test sample.

    `features` are the two coordinates: slope and intercept.
    """
    target = jnp.asarray(y, jnp.float64)[:, None]
    inputs = jnp.stack([x, jnp.ones_like(x)], axis=1)
    weight = jnp.ones(x.shape[0], jnp.float64)
    return Dataset(inputs, target, weight, target, jnp.eye(2))
