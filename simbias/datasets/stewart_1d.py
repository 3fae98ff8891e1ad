"""A piecewise-linear function on [−1, 1], sampled at 40 points."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.checks import positive_integer
from simbias.core import Dataset
from simbias.datasets._fixed import fixed_sample

KNOTS = (-1.0, -0.7, -0.55, -0.4, 0.0, 0.5, 0.6, 0.7, 1.0)
VALUES = (0.0, 0.7, 0.5, 1.0, 0.0, 1.0, 0.6, 0.7, 0.0)


def stewart_1d(key: PRNGKeyArray, *, n: int = 40) -> Dataset:
    """x uniform on [−1, 1], y the linear interpolation of nine knots; inputs (x, 1).

    Args:
        key: random key.
        n: training samples.

    Raises:
        ValueError: unless n is a positive integer.

    Reference: the one-dimensional example that accompanies Boursier & Flammarion
    (2024), arXiv:2401.10791.
    """
    positive_integer("n", n)
    x = jax.random.uniform(key, (n,), jnp.float64, minval=-1, maxval=1)
    return fixed_sample(x, jnp.interp(x, jnp.asarray(KNOTS), jnp.asarray(VALUES)))
