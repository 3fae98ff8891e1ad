"""Orthogonal inputs with a linear, noisy teacher."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.checks import not_negative, positive_integer
from simbias.core import Dataset, Real


def orthogonal(
    key: PRNGKeyArray, *, n: int = 10, d: int = 20, sigma: Real = 1.0
) -> Dataset:
    """xᵢ·xₖ = d δᵢₖ, yᵢ ~ N(0, σ²) independent of xᵢ: nothing to learn but the labels.

    Args:
        key: random key.
        n: training samples, at most d.
        d: input dimension.
        sigma: standard deviation of the targets.

    Returns:
        The sample; `features` are the inputs over their length, largest |y| first.

    Raises:
        ValueError: for a size out of range, or n > d.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939.
    """
    positive_integer("n", n)
    positive_integer("d", d)
    not_negative("sigma", sigma)
    if n > d:
        raise ValueError(f"`n` must be at most d = {d} for orthogonal inputs, got {n}.")
    key_x, key_y = jax.random.split(key)
    q, _ = jnp.linalg.qr(jax.random.normal(key_x, (d, n), jnp.float64))
    y = sigma * jax.random.normal(key_y, (n, 1), jnp.float64)
    x = q.T * d**0.5
    order = jnp.argsort(-jnp.abs(y[:, 0]))
    return Dataset(x, y, jnp.ones(n, jnp.float64), y, q.T[order])
