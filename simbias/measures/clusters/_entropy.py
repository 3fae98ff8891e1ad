"""Effective number of parts."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def exp_entropy(parts: Float[Array, " q"]) -> Float[Array, ""]:
    """exp(−Σ pᵢ ln pᵢ), pᵢ the parts divided by their sum, 0 ln 0 = 0.

    Parts below 0 (rounding) count as 0; NaN if nothing is left.
    """
    parts = jnp.where(parts < 0, 0, parts)
    total = jnp.sum(parts)
    p = jnp.where(total > 0, parts / jnp.where(total > 0, total, 1), jnp.nan)
    is_zero = p == 0
    logs = jnp.log(jnp.where(is_zero, 1, p))
    return jnp.exp(-jnp.sum(jnp.where(is_zero, 0, p * logs)))
