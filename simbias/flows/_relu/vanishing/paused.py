"""A step of the exact flow in which neurons that only grow wait.

Small neurons whose direction has settled have an exact motion, exponential growth, that
would bound the steps of a network whose large neurons hardly move any more.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree

from simbias.core import FlowState
from simbias.flows._relu.activation_classes import activation_classes
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.neuron_state import NeuronState, rates_at
from simbias.flows._relu.step_trajectory import no_sliding
from simbias.flows._relu.weights import with_weights


def step_without(
    step: Callable[[FlowState], FlowState],
    orbit: FlowState,
    waits: Bool[Array, " m"],
    sample: Sample,
    slope: float,
) -> FlowState:
    """The orbit after a step in which some neurons stay as they are.

    Meanwhile they are absent: of no weight, and active nowhere.
    """
    before: NeuronState = orbit.memory.neurons
    is_reversed = jnp.broadcast_to(
        sample.planes.is_reversed[None, :], before.is_above.shape
    )
    sliding = no_sliding(before.w, before.sliding.plane.shape[1])
    zero = lambda v: jnp.zeros_like(v)
    rates = before.rates
    absent = dataclasses.replace(
        before,
        w=zero(before.w),
        a=zero(before.a),
        is_above=is_reversed,
        sliding=sliding,
        rates=rates._replace(
            w=zero(rates.w), a=zero(rates.a), moment=zero(rates.moment)
        ),
    )
    stepped = step(_with(orbit, _rows(waits, absent, before)))
    after = _rows(waits, before, stepped.memory.neurons)
    there = (after.w, after.a, after.is_above, after.sliding)
    after = dataclasses.replace(after, rates=rates_at(*there, sample, slope))
    return _with(stepped, after)


def _rows(choice: Bool[Array, " m"], yes: NeuronState, no: NeuronState) -> NeuronState:
    """Neuron by neuron from one state or the other; the residuals are those of `no`."""

    def chosen(one: PyTree, other: PyTree) -> PyTree:
        shaped = lambda v: choice.reshape(-1, *(1,) * (v.ndim - 1))
        return jax.tree.map(lambda a, b: jnp.where(shaped(a), a, b), one, other)

    rates = chosen(yes.rates[:3], no.rates[:3])
    is_above, sliding = (chosen(getattr(yes, k), getattr(no, k)) for k in _PATTERN)
    classes = no.classes
    if classes is not None:
        classes = activation_classes(is_above, sliding)
    clearance = no.clearance
    if clearance is not None:
        clearance = jnp.where(choice, 0, clearance)
    return dataclasses.replace(
        no,
        w=chosen(yes.w, no.w),
        a=chosen(yes.a, no.a),
        is_above=is_above,
        sliding=sliding,
        rates=no.rates._replace(w=rates[0], a=rates[1], moment=rates[2]),
        classes=classes,
        clearance=clearance,
    )


_PATTERN = ("is_above", "sliding")


def _with(orbit: FlowState, neurons: NeuronState) -> FlowState:
    memory = dataclasses.replace(orbit.memory, neurons=neurons)
    network = with_weights(orbit.network, neurons.w, neurons.a)
    return dataclasses.replace(orbit, network=network, memory=memory)
