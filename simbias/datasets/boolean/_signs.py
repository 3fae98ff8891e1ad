"""Fair signs, thirty-two of them from one draw."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


def fair_signs(
    key: PRNGKeyArray, rows: int, shape: tuple[int, ...]
) -> Float[Array, "n ..."]:
    """−1 or +1 with equal odds, independent, `rows` times `shape`."""
    size = math.prod(shape)
    words = jax.random.bits(key, (rows, -(-size // 32)), jnp.uint32)
    places = jnp.arange(32, dtype=jnp.uint32)
    bits = (words[:, :, None] >> places[None, None, :]) & jnp.uint32(1)
    signs = 1 - 2 * bits.reshape(rows, -1)[:, :size].astype(jnp.float64)
    return signs.reshape(rows, *shape)
