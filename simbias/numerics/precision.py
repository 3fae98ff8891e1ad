"""Products in the full precision of their numbers."""

import jax
import jax.numpy as jnp
from jaxtyping import Array


def matmul(left: Array, right: Array) -> Array:
    """`jnp.matmul`, never in fewer bits (as GPUs and TPUs do unless told otherwise)."""
    return jnp.matmul(left, right, precision=jax.lax.Precision.HIGHEST)
