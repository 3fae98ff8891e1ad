"""Classes that one coordinate separates with a margin."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, inputs
from simbias.datasets.biases._one_shape import D, beside, labels, rows_of, task


def separating_coordinate(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Classes ±1 that one coordinate separates with a margin of ½; seven tell nothing.

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
    key_x, key_y = jax.random.split(key)
    y, rest = labels(key_y, rows), inputs(key_x, law, rows, D)
    linear = y * (0.5 + jnp.abs(rest[:, 0]))
    return task(n, beside(linear, rest[:, 1:]), y)
