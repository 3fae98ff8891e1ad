"""A piecewise-linear function on [−1, 1], sampled at 40 points."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets._on_a_line import on_a_line
from simbias.validation.values import positive_integers

KNOTS = (-1.0, -0.7, -0.55, -0.4, 0.0, 0.5, 0.6, 0.7, 1.0)
VALUES = (0.0, 0.7, 0.5, 1.0, 0.0, 1.0, 0.6, 0.7, 0.0)


def stewart_1d(key: PRNGKeyArray, *, n: int = 40, n_test: int = 2000) -> Dataset:
    """Uniform x in [−1, 1], y the linear interpolation of nine knots; inputs (x, 1).

    Args:
        key: random key.  A larger `n` adds rows and changes none; the test sample does
            not depend on `n`.
        n: training samples.
        n_test: test samples.

    Returns:
        The sample, without noise.

    Raises:
        ValueError: unless both sizes are positive integers.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, §5 and the code that
    accompanies it (40 points uniform at random).
    """
    positive_integers(n=n, n_test=n_test)
    key_train, key_test = jax.random.split(key)
    x, x_test = _uniform(key_train, n), _uniform(key_test, n_test)
    return on_a_line(x, _target(x), on_a_line(x_test, _target(x_test)))


def _uniform(key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
    return jax.random.uniform(key, (n,), jnp.float64, minval=-1, maxval=1)


def _target(x: Float[Array, " n"]) -> Float[Array, " n"]:
    knots, values = jnp.asarray([KNOTS, VALUES], x.dtype)
    return jnp.interp(x, knots, values)
