"""Length of the next step of `DeepReluFlow`, from the errors of the last one."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Real
from simbias.flows._deep.memory import DeepMemory


def next_length(
    memory: DeepMemory,
    field: Float[Array, " p"],
    theta: Float[Array, " p"],
    length: Float[Array, ""],
    error: Float[Array, ""],
    kink_error: Float[Array, ""],
    *,
    order: int,
    dt0: Real | None,
) -> Float[Array, ""]:
    """Length of the next step; at the start, in which weights move by 1 %."""
    factor = 0.9 * jnp.maximum(error, 1e-10) ** (-1 / order)
    # What crossings are wrong by is of third order, and they come at random.
    by_kinks = 0.8 * jnp.maximum(kink_error, 1e-10) ** (-1 / 3)
    factor = jnp.minimum(factor, by_kinks)
    most = jnp.where((error <= 1) & (kink_error <= 1), 5.0, 0.9)
    proposal = length * jnp.clip(factor, 0.2, most)
    proposal = jnp.where(jnp.isfinite(error), proposal, 0.2 * length)
    if dt0 is not None:
        first = jnp.asarray(dt0, proposal.dtype)
    else:
        speed, norm = jnp.linalg.norm(field), jnp.linalg.norm(theta)
        first = 0.01 * norm / jnp.where(speed > 0, speed, 1)
        first = jnp.where((speed > 0) & (norm > 0), first, 1.0)
    return jnp.where(memory.is_new, first, proposal).astype(memory.length.dtype)
