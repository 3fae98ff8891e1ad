"""Outputs of several networks in one member, network by network."""

from typing import Any

import jax
from jaxtyping import Array, Float


def of_each(network: Any, x: Float[Array, "n d"], count: int) -> Float[Array, "n g k"]:
    """Outputs of `count` networks, which the member has side by side."""
    return jax.vmap(network)(x).reshape(len(x), count, -1)
