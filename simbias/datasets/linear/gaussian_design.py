"""A linear teacher on independent Gaussian inputs, as many as a number says."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import not_negative, positive_integers


def gaussian_design(
    key: PRNGKeyArray,
    *,
    n: int = 40,
    d: Real = 40.0,
    width: int = 400,
    sigma: Real = 0.5,
) -> Dataset:
    """Y = w·x + σ ξ with x ~ N(0, I) of d inputs, all entries of w equal, |w| = 1.

    Args:
        key: random key.
        n: samples.
        d: inputs, a whole number.  It shapes nothing, so that one program serves all.
        width: of the array that holds them, d at least; the others are 0.
        sigma: standard deviation of the noise.

    Raises:
        ValueError: for a size or number out of range.

    Reference: Hastie, Montanari, Rosset & Tibshirani (2022), arXiv:1903.08560.
    """
    positive_integers(n=n, width=width)
    not_negative("sigma", sigma)
    if isinstance(d, float) and d not in range(1, width + 1):
        raise BadInput(
            f"`d` must be a whole number from 1 to width={width}, got {d:g}. "
            f"Example: d={width}."
        )
    key_x, key_noise = jax.random.split(key)
    is_there = (jnp.arange(width, dtype=jnp.float64) < d).astype(jnp.float64)
    x = is_there[None] * jax.random.normal(key_x, (n, width), jnp.float64)
    teacher = is_there / jnp.sqrt(jnp.sum(is_there))
    mean = (x @ teacher)[:, None]
    y = mean + sigma * jax.random.normal(key_noise, (n, 1), jnp.float64)
    return Dataset(x, y, jnp.ones(n, jnp.float64), mean, teacher[None])
