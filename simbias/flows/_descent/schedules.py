"""The rate of a step by its number, as schedules of optax give it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.errors import BadInput
from simbias.flows._shared.step_clock import clock

# Number of the step, from 0 -> factor of the rate.
Schedule = Callable[[Int[Array, ""]], Float[Array, ""] | float]

# Later steps that are looked at: the next ones, and then fewer and fewer.
_NEXT, _FARTHEST = 1024, 30


def factor(schedule: Schedule, count: Int[Array, ""]) -> Float[Array, ""]:
    """Of the rate in a step."""
    with jax.numpy_dtype_promotion("standard"):  # optax divides counts
        return jnp.asarray(schedule(count)).astype(clock())


def has_ended(schedule: Schedule, count: Int[Array, ""]) -> Bool[Array, ""]:
    """Whether the rate is 0 in this step and for good.

    It is looked at in the next 1024 steps, and 2¹¹, 2¹², … 2³⁰ steps from here.
    """
    powers = [2**k for k in range(_NEXT.bit_length(), _FARTHEST + 1)]
    later = jnp.concatenate(
        [jnp.arange(_NEXT, dtype=jnp.int32), jnp.asarray(powers, jnp.int32)]
    )
    at = lambda step: factor(schedule, step) == 0
    for_good = lambda: jnp.all(jax.vmap(at)(count + later))
    return jax.lax.cond(at(count), for_good, lambda: jnp.array(False))


def check_schedule(schedule: Any, rate: Any) -> None:
    """Refuse what is no function of the number of the step.

    Raises:
        ValueError: naming `schedule`, or `rate` where a schedule is given as one.
    """
    if callable(rate):
        raise BadInput(
            f"`rate` must be a number, got the function {rate!r}. Give a schedule of "
            "optax as `schedule`, beside a rate of 1. Example: rate=1.0, "
            "schedule=optax.cosine_decay_schedule(0.1, 1000)."
        )
    if schedule is None:
        return
    example = "Example: schedule=optax.cosine_decay_schedule(1.0, 1000)."
    if not callable(schedule):
        raise BadInput(
            "`schedule` must be a function of the number of the step, from 0, got "
            f"{schedule!r}. {example}"
        )
    try:
        step = jax.ShapeDtypeStruct((), jnp.int32)
        with jax.numpy_dtype_promotion("standard"):
            found = jax.eval_shape(lambda step: jnp.asarray(schedule(step)), step)
    except Exception as error:  # of any kind: it is not ours
        why = (str(error).strip() or repr(error)).splitlines()[0]
        raise BadInput(
            f"`schedule` cannot be computed of the number of a step: {why} The number "
            f"is traced: write jnp.where in the place of `if`. {example}"
        ) from error
    is_real = any(jnp.issubdtype(found.dtype, k) for k in (jnp.floating, jnp.integer))
    if found.shape or not is_real:
        raise BadInput(
            "`schedule` must return one real number, got "
            f"{found.dtype}{list(found.shape)}. {example}"
        )
