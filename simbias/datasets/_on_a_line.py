"""Samples without noise on a line, with a constant second input."""

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset


def on_a_line(
    x: Sequence[float] | Float[Array, " n"],
    y: Sequence[float] | Float[Array, " n"],
    test: Dataset | None = None,
) -> Dataset:
    """Inputs (x, 1), targets without noise.

    `features` are the two coordinates: slope and intercept.
    """
    line = jnp.asarray(x, jnp.float64)
    target = jnp.asarray(y, jnp.float64)[:, None]
    weight = jnp.ones_like(line)
    inputs = jnp.stack([line, weight], axis=1)
    return Dataset(inputs, target, weight, target, jnp.eye(2, dtype=jnp.float64), test)
