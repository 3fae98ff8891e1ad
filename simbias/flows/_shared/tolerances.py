"""Tolerances: the relative one, and that of weights near 0."""

import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from simbias.core import Real

# A tolerance below this many roundings would take their noise for events.
_LEAST_RTOL = 1000


def relative_tolerance(rtol: Real, dtype: jnp.dtype) -> Float[Array, ""]:
    """`rtol` in the type of the weights, at least 1000 of its roundings."""
    least = _LEAST_RTOL * jnp.finfo(dtype).eps
    return jnp.maximum(jnp.asarray(rtol, dtype), least)


def absolute_tolerance(
    atol: Real | None, rtol: Float[Array, ""], params: PyTree
) -> Float[Array, ""]:
    """`atol`, or rtol/1000 times the median size of the weights that are not 0.

    Not a mean: one weight of 1e30 would leave the others without error control.
    """
    if atol is None:
        size = jnp.abs(ravel_pytree(params)[0])
        median = jnp.nanmedian(jnp.where(size > 0, size, jnp.nan))
        atol = 1e-3 * rtol * jnp.where(jnp.isnan(median), 0, median)
    # Weights that are all 0 still need a scale that is not.
    return jnp.maximum(jnp.asarray(atol, rtol.dtype), jnp.finfo(rtol.dtype).tiny)
