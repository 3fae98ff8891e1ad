"""Four clusters, those across from each other of one class."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, inputs
from simbias.datasets.biases._one_shape import (
    D,
    beside,
    labels,
    rows_of,
    task,
    with_one,
)


def crossed_clusters(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Clusters at ±2e₁, class +1, and at ±2e₂, class −1, with 0.4 of the law around.

    The last coordinate is 1: without it an odd network, as one of tanh, has no chance.

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
    key_x, key_y, key_side = jax.random.split(key, 3)
    y, rest = labels(key_y, rows), inputs(key_x, law, rows, D - 1)
    side = 2 * jax.random.rademacher(key_side, (rows,), jnp.float64)
    zero = jnp.zeros_like(side)
    is_first = y > 0
    middle = beside(
        jnp.where(is_first, side, zero), jnp.where(is_first, zero, side)[:, None]
    )
    return task(n, with_one((0.4 * rest).at[:, :2].add(middle)), y)
