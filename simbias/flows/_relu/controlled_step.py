"""One attempt of the exact flow: accept or reject it, and choose the next length."""

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import FlowState, Status
from simbias.flows._relu.attempt_step import Attempt, attempt_step
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.integrate_step import Options
from simbias.flows._relu.memory import ReluMemory, next_length
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.step_control import controlled, first_controller
from simbias.flows._relu.weights import with_weights
from simbias.flows._shared.eligibility import counted, eligibility_of, first_counts
from simbias.flows._shared.objective import choose, is_finite, where_status
from simbias.flows._shared.step_clock import end_of_step, least_step

# A rejected noninteracting step multiplies the length of the next one by this.
_DISTRUST = 0.25


def controlled_step(
    options: Options,
    state: FlowState,
    sample: Sample,
    until: Float[Array, ""],
    rtol: Float[Array, ""],
) -> tuple[FlowState, Bool[Array, ""]]:
    """The state after one attempt, accepted or not.

    The second result says whether an aggregated network left its bound in it: such an
    attempt counts as neither accepted nor rejected.
    """
    options = options._replace(rtol=rtol)
    memory, time, network = state.memory, state.time, state.network
    dtype = network.w.dtype
    wish, is_noninteracting = next_length(memory, sample, rtol)
    tnext, is_clipped = end_of_step(time, wish, until)
    length = (tnext - time).astype(dtype)
    new = attempt_step(
        memory.neurons,
        sample,
        length,
        options,
        memory.stiffness,
        None if memory.trust is None else is_noninteracting,
    )
    known = dataclasses.replace(new.neurons, clearance=None, represented=None)
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
        controller = choose(is_noninteracting, memory.controller, controller)
        proposal = jnp.where(is_noninteracting, memory.length, proposal)
        trust = jnp.where(is_noninteracting & ~is_kept, _DISTRUST * trust, trust)

    attempts = state.stats["accepted"] + state.stats["rejected"]
    eligibility = eligibility_of(state, until > time, attempts, options.max_steps)
    is_too_small = wish < least_step(time, until)
    tries = eligibility.goes & ~is_too_small
    leaves_aggregation = (
        jnp.array(False)
        if new.leaves_aggregation is None
        else tries & new.leaves_aggregation
    )
    moves = tries & is_kept & ~leaves_aggregation
    small = where_status(
        memory.has_overflowed, Status.NONFINITE, jnp.int32(Status.STEP_TOO_SMALL)
    )
    status = jnp.where(eligibility.goes & is_too_small, small, eligibility.status)
    status = where_status(moves & new.has_no_slot, Status.CAPACITY, status)
    kinds = _kinds(memory.neurons, moves, is_noninteracting)
    neurons = choose(moves, new.neurons, memory.neurons)
    network = with_weights(network, neurons.w, neurons.a)
    log = memory.log
    if log is not None and new.events is not None:
        duration = (tnext - time).astype(time.dtype)
        log = choose(moves, log.extended(new.events, time, duration), log)
    memory = choose(
        tries & ~leaves_aggregation,
        ReluMemory(
            memory.planes,
            proposal,
            neurons,
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
        _counted(state.stats, new, tries, leaves_aggregation, kinds),
        memory,
    )
    return end, leaves_aggregation


def first_stats(**known: Int[Array, ""]) -> dict[str, Int[Array, ""]]:
    """Counts at time 0, those that are known included."""
    names = (
        "crossings",
        "slides",
        "releases",
        "noninteracting",
        "aggregated",
        "by_class",
    )
    zero = {name: jnp.int32(0) for name in names}
    return first_counts(evaluations=1) | zero | known


class _Kinds(NamedTuple):
    """Whether the step was taken, and in which of the cheaper ways."""

    accepted: Bool[Array, ""]
    noninteracting: Bool[Array, ""]
    aggregated: Bool[Array, ""]
    by_class: Bool[Array, ""]


def _kinds(
    neurons: NeuronState, moves: Bool[Array, ""], is_noninteracting: Bool[Array, ""]
) -> _Kinds:
    is_aggregated, classes = jnp.array(neurons.represented is not None), neurons.classes
    by_class = (
        jnp.array(False)
        if classes is None
        else classes.fits & ~is_noninteracting & ~is_aggregated
    )
    return _Kinds(
        moves, moves & is_noninteracting, moves & is_aggregated, moves & by_class
    )


def _counted(
    stats: dict[str, Int[Array, ""]],
    new: Attempt,
    tries: Bool[Array, ""],
    leaves_aggregation: Bool[Array, ""],
    kinds: _Kinds,
) -> dict[str, Int[Array, ""]]:
    moves = kinds.accepted
    found = {
        "crossings": new.crossings,
        "slides": new.slides,
        "releases": new.released,
        "nonunique_events": new.nonunique_events,
    }
    if new.events is not None:
        found["events"] = jnp.sum(new.events.count)
    # An attempt of aggregated neurons beyond their bound is neither kept nor rejected.
    rest = counted(stats, tries, moves | leaves_aggregation, new.evaluations)
    return (
        rest
        | {
            k: stats[k] + jnp.where(moves, v, 0).astype(jnp.int32)
            for k, v in found.items()
        }
        | {k: stats[k] + v.astype(jnp.int32) for k, v in kinds._asdict().items()}
    )
