"""Ordinary least squares on the sample."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset


def ols(data: Dataset, *, has_intercept: bool) -> Float[Array, "e k"]:
    """argmin_β Σᵢ ωᵢ |yᵢ − βᵀxᵢ|², the one of least norm if there are several.

    With an intercept the inputs are (xᵢ, 1), and the last row of β is the intercept.
    QR first, then a singular value decomposition of the small factor: the condition
    number is that of the inputs, not its square.
    """
    root = jnp.sqrt(data.weight)[:, None]
    x = root * inputs(data.x, has_intercept=has_intercept)
    q, r = jnp.linalg.qr(x)
    cutoff = float(jnp.finfo(x.dtype).eps) * max(x.shape)
    return jnp.linalg.lstsq(r, q.T @ (root * data.y), rcond=cutoff)[0]


def inputs(x: Float[Array, "n d"], *, has_intercept: bool) -> Float[Array, "n e"]:
    """Rows xᵢ, or (xᵢ, 1)."""
    if not has_intercept:
        return x
    return jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
