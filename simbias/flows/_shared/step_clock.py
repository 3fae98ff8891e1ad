"""The clock of a step: where it ends, and when it is too short."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# A step of fewer roundings of the time than this is no step.
ROUNDINGS = 10
# Within this many roundings before `until` a step is taken to be meant for it.
CLIP = 100


def clock() -> jnp.dtype:
    """Type of a time: the widest there is, so that t + h ≠ t for float32 weights."""
    return jnp.result_type(float)


def least_step(time: Float[Array, ""], until: Float[Array, ""]) -> Float[Array, ""]:
    """Steps from here that are shorter hardly move the clock beyond its rounding.

    It is the time reached that counts, or one unit of it at the start: how far beyond
    that a member has to go says nothing of how well it can.
    """
    reached = jnp.maximum(time, jnp.minimum(until, 1))
    return ROUNDINGS * jnp.finfo(time.dtype).eps * reached


def end_of_step(
    time: Float[Array, ""], length: Float[Array, ""], until: Float[Array, ""]
) -> tuple[Float[Array, ""], Bool[Array, ""]]:
    """When a step ends, and whether `until` cuts it short.

    A step that would end just before `until` ends there too.
    """
    rounding = jnp.finfo(until.dtype).eps * until
    is_cut = time + length > until - CLIP * rounding
    return jnp.where(is_cut, until, time + length), is_cut
