"""Dropout with the key of one step of training, or none."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Buffer, Real
from simbias.validation.values import below_one


def dropout_rate(dropout: Real | None) -> Buffer | None:
    """The rate as a network holds it, not trained; None stays None.

    Raises:
        ValueError: unless it is from 0 to below 1.
    """
    if dropout is None:
        return None
    below_one("dropout", dropout)
    return Buffer(jnp.asarray(dropout, jnp.float64))


def dropped(h: Any, rate: Buffer | None, key: PRNGKeyArray | None) -> Any:
    """Every entry 0 with odds `rate`, else divided by 1 − rate; h without a key."""
    if rate is None or key is None:
        return h
    share = 1 - rate.value
    is_kept = jax.random.bernoulli(key, share, h.shape)
    return jnp.where(is_kept, h / share.astype(h.dtype), 0)


def keys_of(key: PRNGKeyArray | None, count: int) -> Any:
    """`count` keys, or as many None."""
    return (None,) * count if key is None else tuple(jax.random.split(key, count))


def token_of(x: Float[Array, " n"], tokens: Float[Array, "q m"]) -> Float[Array, "n m"]:
    """tokens[0] where xᵢ = −1, tokens[1] where xᵢ = +1, and linear in xᵢ between."""
    share = (1 + x[:, None]) / 2
    return share * tokens[1][None, :] + (1 - share) * tokens[0][None, :]
