"""Whether a member makes an attempt, and what is counted of it: alike in every flow."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from simbias.core import FlowState, Status
from simbias.flows._shared.objective import where_status


class Eligibility(NamedTuple):
    """Whether the member goes on, and its status if it does not."""

    goes: Bool[Array, ""]
    status: Int[Array, ""]


def eligibility_of(
    state: FlowState,
    is_before: Bool[Array, ""],
    attempts: Int[Array, ""],
    max_steps: int,
) -> Eligibility:
    """A member goes on if it runs, is before its time and has attempts left."""
    is_running = (state.status == Status.RUNNING) & is_before
    goes = is_running & (attempts < max_steps)
    status = where_status(is_running & ~goes, Status.MAX_STEPS, state.status)
    return Eligibility(goes, status)


def first_counts(evaluations: int) -> dict[str, Int[Array, ""]]:
    """Before the first attempt."""
    return {
        "accepted": jnp.int32(0),
        "rejected": jnp.int32(0),
        "evaluations": jnp.int32(evaluations),
    }


def counted(
    stats: dict[str, Int[Array, ""]],
    tries: Bool[Array, ""],
    moves: Bool[Array, ""],
    evaluations: Int[Array, ""] | int,
) -> dict[str, Int[Array, ""]]:
    """After an attempt, if the member `tries`, that is kept if it `moves`."""
    cost = jnp.asarray(evaluations, jnp.int32)
    return {
        "accepted": stats["accepted"] + moves.astype(jnp.int32),
        "rejected": stats["rejected"] + (tries & ~moves).astype(jnp.int32),
        "evaluations": stats["evaluations"] + jnp.where(tries, cost, 0),
    }
