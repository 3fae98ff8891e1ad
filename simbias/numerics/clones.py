"""Rows that share some moments with those of a class, and nothing else."""

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.errors import BadInput

Rows = Float[Array, "n d"]


def by_class(x: Rows, y: Float[Array, "n k"], rows: int) -> Float[Array, "k r d"]:
    """The first `rows` inputs of every class, y one-hot.

    Raises:
        ValueError: if there is one class, or one with fewer inputs.
    """
    count = y.shape[1]
    if count < 2:
        raise BadInput(
            f"`y` must be one-hot, of two classes or more, got {count} column: one "
            "class has nothing to be told from."
        )
    if rows < 1:
        raise BadInput(f"`rows` must be 1 or more, got {rows}.")
    if not isinstance(y, Tracer):
        seen = jnp.sum(y > 0, axis=0)
        if rows > (least := int(jnp.min(seen))):
            raise BadInput(
                f"`rows` must be at most {least}, the inputs of the smallest class, "
                f"got {rows}."
            )
    place = jnp.argsort(jnp.where(y > 0, 0, 1), axis=0, stable=True)[:rows]
    return x[place.T]


def isotropic_clone(key: PRNGKeyArray, x: Rows) -> Rows:
    """Gaussian rows with the mean of x, and its variance, the same in all directions.

    x' = x̄ + s z,  s² = (1/nd) Σ |x − x̄|²

    with z of mean 0 and covariance 1, both on the rows themselves: exact.

    Raises:
        ValueError: for too few rows.
    """
    mean = jnp.mean(x, axis=0, keepdims=True)
    return mean + jnp.sqrt(jnp.mean((x - mean) ** 2)) * _white(key, x)


def gaussian_clone(key: PRNGKeyArray, x: Rows) -> Rows:
    """Gaussian rows with mean and covariance of x, exact on the rows themselves.

    x' = x̄ + S^{1/2} z,  S = (1/n) Σ (x − x̄)(x − x̄)ᵀ

    A singular S has a root as well: its clone is flat where x is.

    Raises:
        ValueError: for too few rows.
    """
    mean = jnp.mean(x, axis=0, keepdims=True)
    values, frame = jnp.linalg.eigh((x - mean).T @ (x - mean) / len(x))
    root = (frame * jnp.sqrt(jnp.maximum(values, 0))[None]) @ frame.T
    return mean + _white(key, x) @ root


def marginal_clone(key: PRNGKeyArray, x: Rows) -> Rows:
    """The values of every input of x, each input in an order of its own."""
    return jax.random.permutation(key, x, axis=0, independent=True)


def _white(key: PRNGKeyArray, x: Rows) -> Rows:
    """Rows z with Σ z = 0 and Σ zzᵀ = n, a Gaussian sample but for that."""
    n, d = x.shape
    if n <= d:
        raise BadInput(
            f"`x` must have more rows than inputs, got {n} rows of {d}: too few "
            "samples for a covariance that has an inverse."
        )
    z = jax.random.normal(key, (n, d), x.dtype)
    return jnp.linalg.qr(z - jnp.mean(z, axis=0, keepdims=True))[0] * n**0.5
