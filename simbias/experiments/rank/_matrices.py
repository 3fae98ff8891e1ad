"""Gaussian inputs times a matrix of a given rank."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset, Index
from simbias.errors import BadInput
from simbias.validation.values import positive_integers


def low_rank_target(
    key: PRNGKeyArray, *, n: int, d: int, k: int, rank: Index, n_test: int = 1
) -> Dataset:
    """Targets y = W x, x ~ N(0, 1_d), W = U Vᵀ/√(r d) with Gaussian U, V of r columns.

    E|y|² = k for every rank.  The test sample has the same W.

    Raises:
        ValueError: for a size that is none, or a rank above that of W.
    """
    positive_integers(n=n, d=d, k=k, n_test=n_test)
    _check_rank(rank, min(d, k))
    keys = jax.random.split(key, 4)
    matrix = _low_rank(keys[0], keys[1], d, k, rank)
    x = jax.random.normal(keys[2], (n, d), jnp.float64)
    x_test = jax.random.normal(keys[3], (n_test, d), jnp.float64)
    features = jnp.zeros((0, d), jnp.float64)
    y, y_test = x @ matrix.T, x_test @ matrix.T
    test = Dataset(x_test, y_test, jnp.ones(n_test), y_test, features)
    return Dataset(x, y, jnp.ones(n), y, features, test)


def too_few_samples(key: PRNGKeyArray, *, n: int, m: int, rank: Index) -> Dataset:
    """Targets y = W x as in `low_rank_target`, W m × m, with fewer samples than inputs.

    The test sample is √m eᵢ, i = 1, …, m.  The mean square error on it is exactly that
    over x ~ N(0, 1), ‖Ŵ − W‖²_F.

    Raises:
        ValueError: for a size that is none, n of m or more, or a rank above m.
    """
    positive_integers(n=n, m=m)
    if n >= m:
        raise BadInput(
            f"`n` must be below the number of inputs, {m} (`m`), got {n}: of more "
            "samples the map is known."
        )
    _check_rank(rank, m)
    key_u, key_v, key_x = jax.random.split(key, 3)
    matrix = _low_rank(key_u, key_v, m, m, rank)
    x, axes = jax.random.normal(key_x, (n, m), jnp.float64), m**0.5 * jnp.eye(m)
    features = jnp.zeros((0, m), jnp.float64)
    y, y_test = x @ matrix.T, axes @ matrix.T
    test = Dataset(axes, y_test, jnp.ones(m), y_test, features)
    return Dataset(x, y, jnp.ones(n), y, features, test)


def _check_rank(rank: Index, most: int) -> None:
    if isinstance(rank, int) and not 1 <= rank <= most:
        raise BadInput(
            f"`rank` must be from 1 to {most}, the least of inputs and outputs, got "
            f"{rank}. Example: rank=1."
        )


def _low_rank(
    key_u: PRNGKeyArray, key_v: PRNGKeyArray, d: int, k: int, rank: Index
) -> Float[Array, "k d"]:
    """W = U Vᵀ/√(r d)."""
    most = min(d, k)
    u = jax.random.normal(key_u, (k, most), jnp.float64)
    v = jax.random.normal(key_v, (d, most), jnp.float64)
    is_kept = jnp.arange(most) < rank
    scale = jnp.sqrt(jnp.asarray(rank * d, float))
    return jnp.where(is_kept[None, :], u, 0) @ v.T / scale
