"""Gradients of a bounded norm."""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import PyTree

from simbias.core import Real


def clipped(gradient: PyTree, clip: Real | None) -> PyTree:
    """The gradient, times min(1, clip/‖g‖)."""
    if clip is None:
        return gradient
    norm = optax.tree.norm(gradient)
    limit = jnp.asarray(clip, norm.dtype)
    factor = jnp.where(norm > limit, limit / jnp.where(norm > 0, norm, 1), 1)
    return jax.tree.map(lambda g: factor * g, gradient)
