"""Ordinary least squares: what is left of a network whose neurons agree."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset


def ols(data: Dataset) -> Float[Array, "d k"]:
    """Least squares, the one of least norm if there are several.

    β̂ = argmin_β Σᵢ ωᵢ |yᵢ − βᵀxᵢ|²,   ω = `data.weight`

    There is no intercept beyond the constant input a dataset may carry.  By singular
    values of the inputs, so the condition number is not squared; padded rows count for
    nothing.

    Returns:
        β̂, with a column per output; predictions are `data.x @ ols(data)`.

    Reference: normal equations XᵀΩX β̂ = XᵀΩY.
    """
    return least_squares(data.x, data.y, data.weight)


def least_squares(
    x: Float[Array, "n d"], y: Float[Array, "n k"], weight: Float[Array, " n"]
) -> Float[Array, "d k"]:
    """argmin_β Σᵢ ωᵢ |yᵢ − βᵀxᵢ|², the one of least norm if there are several."""
    root = jnp.sqrt(weight)[:, None]
    return jnp.linalg.lstsq(root * x, root * y)[0]
