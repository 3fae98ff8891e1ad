"""A linear teacher and noise, for inputs of several laws."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, inputs
from simbias.datasets.biases._one_shape import D, rows_of, task


def noisy_linear(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Targets y = w·x + 0.2 z, w of norm 1 in any direction, z standard normal.

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
    key_x, key_w, key_noise = jax.random.split(key, 3)
    x = inputs(key_x, law, rows, D)
    w = jax.random.normal(key_w, (D,), jnp.float64)
    noise = jax.random.normal(key_noise, (rows,), jnp.float64)
    return task(n, x, x @ w / jnp.linalg.norm(w) + 0.2 * noise)
