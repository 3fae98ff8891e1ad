"""One attempt of the exact flow: a step, whether it is kept, and what comes next."""

import dataclasses
from typing import NamedTuple

import diffrax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import FlowState, Status
from simbias.flows._relu.event_step import Attempt, attempt_step
from simbias.flows._relu.frozen import Sample
from simbias.flows._relu.leg import Method
from simbias.flows._relu.memory import ReluMemory, next_length
from simbias.flows._relu.position import Position
from simbias.flows._relu.rows import rows_at_once
from simbias.flows._relu.step_control import controlled, first_controller
from simbias.flows._relu.weights import with_weights
from simbias.flows._shared.objective import (
    CLIP,
    choose,
    is_finite,
    least_step,
    where_status,
)
from simbias.flows._shared.turn import counted, first_counts, turn_of

# A step of every neuron by itself that was not kept makes the next one so much shorter.
_DISTRUST = 0.25
# Events of a share of the neurons are followed at a time, or of so many.
_PARTS, _FEWEST = 16, 16


class Chosen(NamedTuple):
    """What the user chose, and the activation; `rows` None is as many as are fast."""

    solver: diffrax.AbstractERK
    slope: float
    rows: int | None
    max_steps: int
    has_events: bool


def attempted(
    chosen: Chosen,
    state: FlowState,
    sample: Sample,
    until: Float[Array, ""],
    rtol: Float[Array, ""],
) -> tuple[FlowState, Bool[Array, ""]]:
    """After one attempt; whether it was given up since leaders do not do."""
    memory, time, network = state.memory, state.time, state.network
    dtype = network.w.dtype
    rounding = jnp.finfo(until.dtype).eps * until
    wish, is_alone = next_length(memory, sample, rtol)
    is_clipped = time + wish > until - CLIP * rounding
    tnext = jnp.where(is_clipped, until, time + wish)
    length = (tnext - time).astype(dtype)
    rows, (m, n) = chosen.rows, memory.position.is_above.shape
    if rows is None:
        rows = rows_at_once(max(m // _PARTS, _FEWEST), n)
    method = Method(chosen.solver, rtol, chosen.slope, rows, chosen.has_events)
    new = attempt_step(
        memory.position,
        sample,
        length,
        method,
        memory.stiffness,
        None if memory.trust is None else is_alone,
    )
    known = dataclasses.replace(new.position, clear=None, led=None)
    overflows = ~is_finite((known, new.error))
    error = jnp.where(overflows, jnp.inf, new.error)
    is_kept, proposal, controller = controlled(
        error, length, new.order, memory.controller
    )
    stiffness = new.stiffness
    if stiffness is not None and memory.stiffness is not None:
        # An attempt that overflowed says nothing of ρ.
        is_known = is_finite(stiffness)
        stiffness = choose(is_known, stiffness, memory.stiffness)
        is_astray = memory.stiffness.is_stiff & ~is_kept
        stiffness = choose(is_astray, stiffness.rejected(memory.stiffness), stiffness)
        proposal = jnp.minimum(proposal, stiffness.longest())
        # Errors of one method say nothing of the other's.
        stays = stiffness.is_stiff == memory.stiffness.is_stiff
        controller = choose(stays, controller, first_controller(error.dtype))
    proposal = proposal.astype(time.dtype)
    longer = jnp.maximum(proposal, memory.length)
    proposal = jnp.where(is_clipped & is_kept, longer, proposal)
    trust = memory.trust
    if trust is not None:
        # Such steps say nothing of how long one of the others may be.
        controller = choose(is_alone, memory.controller, controller)
        proposal = jnp.where(is_alone, memory.length, proposal)
        trust = jnp.where(is_alone & ~is_kept, _DISTRUST * trust, trust)

    attempts = state.stats["accepted"] + state.stats["rejected"]
    turn = turn_of(state, until > time, attempts, chosen.max_steps)
    is_too_small = wish < least_step(time, until)
    tries = turn.goes & ~is_too_small
    strays = jnp.array(False) if new.strays is None else tries & new.strays
    moves = tries & is_kept & ~strays
    small = where_status(
        memory.has_overflowed, Status.NONFINITE, jnp.int32(Status.STEP_TOO_SMALL)
    )
    status = jnp.where(turn.goes & is_too_small, small, turn.status)
    status = where_status(moves & new.is_full, Status.CAPACITY, status)
    kinds = _kinds(memory.position, moves, is_alone)
    position = choose(moves, new.position, memory.position)
    network = with_weights(network, position.w, position.a)
    log = memory.log
    if log is not None and new.events is not None:
        step = (time, (tnext - time).astype(time.dtype))
        log = choose(moves, log.extended(new.events, *step), log)
    memory = choose(
        tries & ~strays,
        ReluMemory(
            memory.planes,
            proposal,
            position,
            controller,
            overflows,
            stiffness,
            trust,
            log,
        ),
        memory,
    )
    end = FlowState(
        network,
        jnp.where(moves, tnext, time),
        status,
        _counted(state.stats, new, tries, strays, kinds),
        memory,
    )
    return end, strays


def first_stats(**known: Int[Array, ""]) -> dict[str, Int[Array, ""]]:
    """Counts at time 0, those that are known included."""
    names = ("crossings", "pins", "releases", "alone", "led", "by_class")
    zero = {name: jnp.int32(0) for name in names}
    return first_counts(evaluations=1) | zero | known


class _Kinds(NamedTuple):
    """Whether the step was taken, and in which of the cheaper ways."""

    accepted: Bool[Array, ""]
    alone: Bool[Array, ""]
    led: Bool[Array, ""]
    by_class: Bool[Array, ""]


def _kinds(
    position: Position, moves: Bool[Array, ""], is_alone: Bool[Array, ""]
) -> _Kinds:
    is_led, few = jnp.array(position.led is not None), position.classes
    by_class = jnp.array(False) if few is None else few.is_enough & ~is_alone & ~is_led
    return _Kinds(moves, moves & is_alone, moves & is_led, moves & by_class)


def _counted(
    stats: dict[str, Int[Array, ""]],
    new: Attempt,
    tries: Bool[Array, ""],
    strays: Bool[Array, ""],
    kinds: _Kinds,
) -> dict[str, Int[Array, ""]]:
    moves = kinds.accepted
    found = {
        "crossings": new.crossings,
        "pins": new.pinned,
        "releases": new.released,
        "choices": new.choices,
    }
    if new.events is not None:
        found["events"] = jnp.sum(new.events.count)
    # An attempt that leaders give up is neither kept nor rejected.
    rest = counted(stats, tries, moves | strays, new.evaluations)
    return (
        rest
        | {
            k: stats[k] + jnp.where(moves, v, 0).astype(jnp.int32)
            for k, v in found.items()
        }
        | {k: stats[k] + v.astype(jnp.int32) for k, v in kinds._asdict().items()}
    )
