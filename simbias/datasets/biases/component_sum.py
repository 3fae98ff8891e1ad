"""A linear target with an equal part along each principal component."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, inputs
from simbias.datasets.biases._one_shape import PARTS, D, rows_of, task

# Variances of the principal components.
VARIANCES = tuple(8 / j / 2.717857142857143 for j in range(1, PARTS + 1))


def component_sum(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Targets y = Σ_j ±z_j/√8 of principal components z_j, and inputs x_j = √d_j z_j.

    The z_j have variance 1 on the sample, and the d_j ∝ 1/j have mean 1.  `parts` has
    the terms of y one by one.

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
    key_x, key_sign = jax.random.split(key)
    raw = inputs(key_x, law, rows, D)
    # Uncorrelated and of variance 1 on the sample itself: R of x = Q R is undone.
    r = jnp.linalg.qr(raw[:n])[1]
    z = n**0.5 * jax.scipy.linalg.solve_triangular(r.T, raw.T, lower=True).T
    sign = jax.random.rademacher(key_sign, (D,), jnp.float64)
    parts = z * sign[None] / D**0.5
    x = z * jnp.sqrt(jnp.asarray(VARIANCES, z.dtype))[None]
    return task(n, x, jnp.sum(parts, axis=1), parts=parts[:n])
