"""Some attempts of an aggregated network in place of one of all neurons."""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree

from simbias.core import FlowState, Status
from simbias.flows._relu.aggregation import Aggregation, aggregation
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.weights import with_weights
from simbias.flows._shared.objective import choose
from simbias.numerics.conditionals import repeat_while, when

# Attempts, after which all neurons follow.
_MOST = 32


def aggregated_steps(
    attempt: Callable[..., tuple[FlowState, Bool[Array, ""]]],
    state: FlowState,
    here: PyTree,
    is_wanted: Bool[Array, ""],
) -> FlowState:
    """As far as the aggregated network can go; `state` if it cannot.

    Args:
        attempt: of a state and `here`: the state after one more, and whether
            aggregated neurons passed their bound in it.
        state: of all neurons.
        here: what an attempt needs besides: the sample, `until`, the tolerance.
        is_wanted: whether they should go at all.
    """
    neurons, length = state.memory.neurons, state.memory.length
    known, clearance = neurons.classes, neurons.clearance
    if known is None or clearance is None:
        return state
    found = aggregation(neurons, known, clearance, here[0], here[2], length)

    def goes(carry):
        (state, until), leaves_aggregation, count = carry
        is_on = (state.status == Status.RUNNING) & (state.time < until)
        return is_on & ~leaves_aggregation & (count < _MOST)

    def body(here, carry):
        (state, until), leaves_aggregation, count = carry
        new, leaves_aggregation = attempt(state, *here)
        return choose(goes(carry), ((new, until), leaves_aggregation, count + 1), carry)

    def ahead(context, state):
        found, here = context
        start = (
            (_narrow(state, found, here[0]), here[1]),
            jnp.array(False),
            jnp.int32(0),
        )
        (narrow, _), _, _ = repeat_while(goes, body)(here, start)
        return _widened(narrow, found, state, here[0].is_output_frozen)

    return when(ahead)(found.is_usable & is_wanted, (found, here), state)


def _narrow(state: FlowState, found: Aggregation, sample: Sample) -> FlowState:
    memory, stiffness = state.memory, state.memory.stiffness
    neurons = found.narrow(memory.neurons, sample)
    stiffness = None if stiffness is None else stiffness.along(found.basis.down)
    memory = dataclasses.replace(
        memory, neurons=neurons, stiffness=stiffness, trust=None
    )
    network = with_weights(state.network, neurons.w, neurons.a)
    return dataclasses.replace(state, network=network, memory=memory)


def _widened(
    narrow: FlowState, found: Aggregation, before: FlowState, is_output_frozen: bool
) -> FlowState:
    """The state of all neurons; as before if the aggregated network has not moved."""
    moves = narrow.time > before.time
    old, new = before.memory, narrow.memory
    widen = when(lambda here, old: here[0].widened(here[1], old, is_output_frozen))
    neurons: NeuronState = widen(moves, (found, new.neurons), old.neurons)
    stiffness = old.stiffness
    if stiffness is not None:
        stiffness = choose(moves, new.stiffness.along(found.basis.up), stiffness)
    memory = dataclasses.replace(
        new, neurons=neurons, stiffness=stiffness, trust=old.trust
    )
    network = with_weights(before.network, neurons.w, neurons.a)
    return dataclasses.replace(narrow, network=network, memory=memory)
