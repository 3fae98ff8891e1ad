"""The end of an orbit, where it is proven, without following it there."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree

from simbias.core import Dataset, FlowState, Loss
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.neuron_state import rates_at
from simbias.flows._relu.weights import with_weights
from simbias.limits.basin import basin
from simbias.limits.landing_point import followed
from simbias.limits.neurons import read
from simbias.numerics.conditionals import when

# How far large neurons may still have to go, and how well the end must be known.
_NEAR, _KNOWN = 1e-2, 1e-3


def landed(
    orbit: FlowState,
    is_large: Bool[Array, " m"],
    data: Dataset,
    loss: Loss,
    is_wanted: Bool[Array, ""],
) -> FlowState:
    """The orbit with its large neurons at their limit, if it is near and known.

    `limits.basin` proves where they go.  The error of the landing point is of second
    order in the distance, so that the same done again is a Newton iteration.
    """

    def look(here: PyTree, orbit: FlowState) -> FlowState:
        data, is_large = here
        neurons, is_kept = orbit.memory.neurons, is_large[:, None]
        alone = with_weights(
            orbit.network,
            jnp.where(is_kept, neurons.w, 0),
            jnp.where(is_kept, neurons.a, 0),
        )
        large, sample = read(alone, data, loss)
        found = basin(large, sample)
        lands = found.is_known & (found.distance < _NEAR)
        lands &= jnp.max(found.error) < _KNOWN
        w, a = followed(large.w, large.a, found.drift)
        w = jnp.where(is_kept & lands, w, neurons.w)
        a = jnp.where(is_kept & lands, a[:, None], neurons.a)
        has_bias = orbit.network.b is not None
        whole = extended_sample(data, loss, has_bias, orbit.memory.planes)
        slope = orbit.network.negative_slope
        rates = rates_at(w, a, neurons.is_above, neurons.sliding, whole, slope)
        neurons = dataclasses.replace(neurons, w=w, a=a, rates=rates)
        memory = dataclasses.replace(orbit.memory, neurons=neurons)
        network = with_weights(orbit.network, w, a)
        return dataclasses.replace(orbit, network=network, memory=memory)

    return when(look)(is_wanted, (data, is_large), orbit)
