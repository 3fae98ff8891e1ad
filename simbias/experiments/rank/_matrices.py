"""Gaussian inputs times a matrix of a given rank."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.checks.values import positive_integer
from simbias.core import Dataset, Index
from simbias.errors import BadInput


def low_rank_target(
    key: PRNGKeyArray, *, n: int, d: int, k: int, rank: Index, n_test: int = 1
) -> Dataset:
    """Targets y = W x, x ~ N(0, 1_d), W = U Vᵀ/√(r d) with Gaussian U, V of r columns.

    E|y|² = k whatever the rank.  A test sample of the same W comes with it.

    Raises:
        ValueError: for a size that is none, or a rank above that of W.
    """
    for name, size in (("n", n), ("d", d), ("k", k), ("n_test", n_test)):
        positive_integer(name, size)
    most = min(d, k)
    if isinstance(rank, int) and not 1 <= rank <= most:
        raise BadInput(
            f"`rank` must be from 1 to {most}, the least of inputs and outputs, got "
            f"{rank}. Example: rank=1."
        )
    keys = jax.random.split(key, 4)
    u = jax.random.normal(keys[0], (k, most), jnp.float64)
    v = jax.random.normal(keys[1], (d, most), jnp.float64)
    is_kept = jnp.arange(most) < rank
    matrix = (
        jnp.where(is_kept[None, :], u, 0) @ v.T / jnp.sqrt(jnp.asarray(rank * d, float))
    )
    x = jax.random.normal(keys[2], (n, d), jnp.float64)
    x_test = jax.random.normal(keys[3], (n_test, d), jnp.float64)
    features = jnp.zeros((0, d), jnp.float64)
    y, y_test = x @ matrix.T, x_test @ matrix.T
    test = Dataset(x_test, y_test, jnp.ones(n_test), y_test, features)
    return Dataset(x, y, jnp.ones(n), y, features, test)
