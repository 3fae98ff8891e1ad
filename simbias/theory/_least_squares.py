"""Weighted least squares, for the oracles of this folder.

The measures have their own, by another algorithm: an oracle shares no code with what it
may be asked to check.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def least_squares(
    x: Float[Array, "n d"], y: Float[Array, "n k"], weight: Float[Array, " n"]
) -> Float[Array, "d k"]:
    """argmin_β Σᵢ ωᵢ |yᵢ − βᵀxᵢ|², the one of least norm if there are several."""
    root = jnp.sqrt(weight)[:, None]
    return jnp.linalg.lstsq(root * x, root * y)[0]
