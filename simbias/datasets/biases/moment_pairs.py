"""Two classes that differ in means, a covariance, and fourth moments."""

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
from simbias.errors import BadInput
from simbias.numerics.clones import gaussian_clone, isotropic_clone


def moment_pairs(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Classes ±1 told by means, by a correlation, and by two peaks, two inputs of each.

    Means and the sign of the correlation belong to the class, and of class −1 the last
    two have two peaks; one input of the law tells nothing, and the last is 1.
    `others["means"]` and `others["covariances"]` are clones of the test rows that share
    their means, or means and covariances.

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
    if n_test % 2:
        raise BadInput(f"`n_test` must be even, as many of either class, got {n_test}.")
    key_x, key_y, key_z, *key_clones = jax.random.split(key, 7)
    y = labels(key_y, rows)
    # As many of either class in the test.
    y = y.at[n:].set(jnp.where(jnp.arange(n_test) % 2 == 0, 1.0, -1.0))
    rest = inputs(key_x, law, rows, 3)
    z = jax.random.normal(key_z, (rows, 6), jnp.float64)
    means = rest[:, :2] + 0.7 * y[:, None]
    pair = jnp.stack([z[:, 0], 0.9 * y * z[:, 0] + 0.19**0.5 * z[:, 1]], axis=1)
    peaks = 0.95 * jnp.sign(z[:, 2:4]) + 0.0975**0.5 * z[:, 4:]
    fourth = jnp.where(y[:, None] > 0, z[:, 2:4], peaks)
    x = with_one(beside(means, pair, fourth, rest[:, 2:]))
    test = x[n:]

    def clone(make, keys):
        of = [make(k, test[i::2, : D - 1]) for i, k in enumerate(keys)]
        return with_one(jnp.stack(of, axis=1).reshape(n_test, D - 1))

    clones = (
        clone(isotropic_clone, key_clones[:2]),
        clone(gaussian_clone, key_clones[2:]),
    )
    return task(n, x, y, clones=clones)
