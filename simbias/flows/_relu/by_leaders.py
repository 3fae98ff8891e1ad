"""Some attempts of the leaders of all neurons, in the place of one of all."""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree

from simbias.core import FlowState, Status
from simbias.flows._relu.frozen import Sample
from simbias.flows._relu.leaders import Leaders, leaders
from simbias.flows._relu.position import Position
from simbias.flows._relu.weights import with_weights
from simbias.flows._shared.objective import choose
from simbias.numerics.conditionals import repeat_while, when

# Attempts, after which all neurons follow.
_MOST = 32


def by_leaders(
    attempt: Callable[..., tuple[FlowState, Bool[Array, ""]]],
    state: FlowState,
    here: PyTree,
    is_wanted: Bool[Array, ""],
) -> FlowState:
    """As far as leaders can go by themselves; `state` if they cannot.

    Args:
        attempt: of a state and `here`: the state after one more, and whether leaders
            could not make it.
        state: of all neurons.
        here: what an attempt needs besides: the sample, `until`, the tolerance.
        is_wanted: whether they should go at all.
    """
    position, length = state.memory.position, state.memory.length
    known, clear = position.classes, position.clear
    if known is None or clear is None:
        return state
    led = leaders(position, known, clear, here[0], here[2], length)

    def goes(carry):
        (state, until), strays, count = carry
        is_on = (state.status == Status.RUNNING) & (state.time < until)
        return is_on & ~strays & (count < _MOST)

    def turn(here, carry):
        (state, until), strays, count = carry
        new, strays = attempt(state, *here)
        return choose(goes(carry), ((new, until), strays, count + 1), carry)

    def ahead(context, state):
        led, here = context
        start = (_narrow(state, led, here[0]), here[1]), jnp.array(False), jnp.int32(0)
        (narrow, _), _, _ = repeat_while(goes, turn)(here, start)
        return _widened(narrow, led, state, here[0].is_output_frozen)

    return when(ahead)(led.can_lead & is_wanted, (led, here), state)


def _narrow(state: FlowState, led: Leaders, sample: Sample) -> FlowState:
    memory, stiffness = state.memory, state.memory.stiffness
    position = led.narrow(memory.position, sample)
    stiffness = None if stiffness is None else stiffness.along(led.few.down)
    memory = dataclasses.replace(
        memory, position=position, stiffness=stiffness, trust=None
    )
    network = with_weights(state.network, position.w, position.a)
    return dataclasses.replace(state, network=network, memory=memory)


def _widened(
    narrow: FlowState, led: Leaders, before: FlowState, is_output_frozen: bool
) -> FlowState:
    """The state of all neurons; where they are not, if their leaders have not moved."""
    moves = narrow.time > before.time
    old, new = before.memory, narrow.memory
    widen = when(lambda here, old: here[0].widened(here[1], old, is_output_frozen))
    position: Position = widen(moves, (led, new.position), old.position)
    stiffness = old.stiffness
    if stiffness is not None:
        stiffness = choose(moves, new.stiffness.along(led.few.up), stiffness)
    memory = dataclasses.replace(
        new, position=position, stiffness=stiffness, trust=old.trust
    )
    network = with_weights(before.network, position.w, position.a)
    return dataclasses.replace(narrow, network=network, memory=memory)
