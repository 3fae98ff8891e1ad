"""One coordinate that a line can read, and three that take slabs."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, inputs
from simbias.datasets.biases._one_shape import beside, labels, rows_of, task, with_one

# Slabs of a coordinate that no linear or quadratic function tells apart: the third
# from the middle outwards is again of the first class, as of five slabs in `slabs`.
_SLAB = 0.44


def linear_and_slabs(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Classes ±1: a linear coordinate, three of five slabs, three that tell nothing.

    The linear one is y (½ + |u|/2); a coordinate of slabs has the middle and both outer
    ones of class −1, those between of class +1, and is learned by no line.  Three are
    of the law and tell nothing, the last is 1.

    Args:
        key: random key.
        law: of the inputs, of mean 0 and variance 1: "uniform"; "steps", of density
            1 : 2 : 4 on three intervals; "heavy", Student's of three degrees of
            freedom; or "clusters", eight Gaussian ones.
        n: samples.
        n_test: of the test sample.

    Raises:
        ValueError: for a law that is not known or a size that is none.

    Reference: ours.
    """
    rows = rows_of(law, n, n_test)
    key_x, key_y, key_slab = jax.random.split(key, 3)
    y, rest = labels(key_y, rows), inputs(key_x, law, rows, 4)
    linear = y * (0.5 + jnp.abs(rest[:, 0]) / 2)
    slabs = _slabs(key_slab, y, 3)
    return task(n, with_one(beside(linear, slabs, rest[:, 1:])), y)


def _slabs(key: PRNGKeyArray, y: Float[Array, " n"], count: int) -> Float[Array, "n c"]:
    """Five slabs each: the middle and both outer ones of class −1, as in `slabs`."""
    u = jax.random.uniform(key, (3, len(y), count), jnp.float64)
    sign = jnp.where(u[0] < 0.5, -1.0, 1.0)
    far = jnp.where(u[1] < 0.75, 0.0, 2.0)
    slab = jnp.where(y[:, None] > 0, 1.0, far)
    return 2 * (sign * slab * _SLAB + 0.24 * (u[2] - 0.5))
