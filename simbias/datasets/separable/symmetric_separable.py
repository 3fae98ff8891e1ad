"""Linearly separable data that are their own mirror image."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integers


def symmetric_separable(
    key: PRNGKeyArray, *, n: int = 20, d: int = 5, margin: Real = 0.3
) -> Dataset:
    """Samples (x, +1) and (−x, −1) on the two sides of a hyperplane, with a gap.

        x = (γ + |z₁|, z₂, …, z_d),   z ~ N(0, I)

    The margin of the best direction is at least γ.

    Args:
        key: random key.
        n: samples, an even number.
        d: input dimension.
        margin: γ, smallest distance from the hyperplane x₁ = 0.

    Returns:
        The sample, without noise and without a test sample; `features` is e₁.

    Raises:
        ValueError: for a size out of range, or an odd one.

    Reference: Lyu et al. (2021), arXiv:2110.13905, symmetric data; the law of x is
    ours.
    """
    positive_integers(n=n, d=d)
    positive("margin", margin)
    if n % 2:
        raise BadInput(f"`n` must be even, got {n}. Example: n={n + 1}.")
    z = jax.random.normal(key, (n // 2, d), jnp.float64)
    first = jnp.abs(z[:, :1]) + margin
    x = jnp.concatenate([first, z[:, 1:]], axis=1)
    y = jnp.repeat(jnp.array([1.0, -1.0]), n // 2)[:, None]
    features = jnp.zeros((1, d)).at[0, 0].set(1.0)
    return Dataset(jnp.concatenate([x, -x]), y, jnp.ones(n), y, features)
