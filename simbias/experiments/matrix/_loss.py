"""One loss for tasks of two kinds."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def by_target(
    prediction: Float[Array, "n k"],
    target: Float[Array, "n k"],
    weight: Float[Array, " n"],
) -> Float[Array, ""]:
    """(1/n) Σ ℓ(f, y): ln(1 + e^{−yf}) where y = ±1, else ½(f − y)².

    Labels are ±1 exactly, a value drawn from a continuous law is so with probability 0:
    tasks of classes have `losses.logistic`, the others `losses.half_mse`, in one
    program.
    """
    is_label = jnp.abs(target) == 1
    square = (prediction - target) ** 2 / 2
    each = jnp.where(is_label, jax.nn.softplus(-target * prediction), square)
    return jnp.sum(jnp.sum(each, axis=1) * weight) / jnp.sum(weight)
