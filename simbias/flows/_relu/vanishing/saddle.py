"""What the flow from a vanishing start knows of a saddle and of its small neurons."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import FlowState
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.norms import norm_of_rows, positive_or_one, unit_rows
from simbias.flows._relu.sliding import jumps, normal_speeds
from simbias.flows._relu.weights import with_weights

# Weights of small neurons: beside weights of order one their products are nothing.
TINY = 1e-100
# Weights of a cluster that leaves, in units of √(|y|/|x|); f changes by the square.
LEAVING = 1e-6
# Speeds in units of Σ |rᵢ||xᵢ| at f = 0: that of large neurons at rest, that of
# directions at rest, and the least growth that counts as growth.
REST, SETTLED, GROWS = 1e-8, 1e-6, 1e-6
# Share of the growth of a neuron below which its turning can wait: the tangent of the
# angle by which it may lag behind while large neurons move.  With 0.03 a neuron of
# problem 6 of benchmarks/vanishing_start.py reaches another extremal vector.
HARDLY = 1e-3
# Two waits are one within this share, and two directions within this distance.
SAME_WAIT, SAME_DIRECTION = 1e-6, 1e-4
_IN_UNITS_OF_WEIGHT = ("speed_below", "speed_above", "excursion")


class Saddle(eqx.Module):
    """Memory of the flow: an orbit that ends at a saddle, and what is small there.

    Attributes:
        orbit: state of the exact flow, on a clock of its own.  Small neurons are in it
            with their directions, and no size.
        exponent: u of a small neuron, whose size is λ^u.
        is_large: neurons whose size is of order one, or will be.
        speed: Σ |rᵢ||xᵢ| at f = 0, the unit of speeds.
        size: √(Σ|y|/Σ|x|), the unit of weights.
        count: jumps so far.
        time: of every jump.
        loss: at the saddle that it leaves.
        neuron: one of those that leave.
        leaving: how many leave.
    """

    orbit: FlowState
    exponent: Float[Array, " m"]
    is_large: Bool[Array, " m"]
    speed: Float[Array, ""]
    size: Float[Array, ""]
    count: Int[Array, ""]
    time: Float[Array, " event"]
    loss: Float[Array, " event"]
    neuron: Float[Array, " event"]
    leaving: Float[Array, " event"]


class Motion(NamedTuple):
    """Of every neuron: its direction, (ln |w|)', and how fast its direction turns.

    A neuron that slides on a plane which no longer holds it turns as fast as it leaves.
    """

    unit: Float[Array, "m e"]
    size: Float[Array, " m"]
    growth: Float[Array, " m"]
    turning: Float[Array, " m"]


class NextJump(NamedTuple):
    """Which neurons leave next, and in what time s.

    Attributes:
        rate: −du/ds of every neuron, 0 of large ones.
        is_any: some neuron grows.
        wait: until the first has u = 0.
        leaves: the neurons that have it then.
        first: one of them.
        is_tie: they have several directions or signs.
    """

    rate: Float[Array, " m"]
    is_any: Bool[Array, ""]
    wait: Float[Array, ""]
    leaves: Bool[Array, " m"]
    first: Int[Array, ""]
    is_tie: Bool[Array, ""]


def motion(neurons: NeuronState, sample: Sample, slope: float) -> Motion:
    """Of neurons with |a| = |w| under the field that they have."""
    size = norm_of_rows(neurons.w)
    unit = unit_rows(neurons.w)
    velocity = neurons.rates.w / positive_or_one(size)[:, None]
    growth = jnp.sum(unit * velocity, axis=1)
    turning = norm_of_rows(velocity - growth[:, None] * unit)
    leaving = _leaving(neurons, sample, slope) / positive_or_one(size)
    turning = jnp.maximum(turning, leaving)
    return Motion(unit, size, growth, turning)


def _leaving(neurons: NeuronState, sample: Sample, slope: float) -> Float[Array, " m"]:
    """Largest speed away from a plane that a neuron slides on; 0 while all hold."""
    sliding = neurons.sliding
    pull = sample.pulls(neurons.rates.residual)[jnp.maximum(sliding.plane, 0)]
    drive = jnp.sum(neurons.a[:, :, None] * neurons.rates.moment, axis=1)
    jump = jumps(neurons.a, pull, slope)
    below, above, room = normal_speeds(drive, jump, sliding.dual)
    away = jnp.where(room > 0, jnp.maximum(above, -below), 0)
    return jnp.maximum(jnp.max(away, axis=1), 0)


def is_at_rest(saddle: Saddle, moves: Motion) -> Bool[Array, ""]:
    """Large neurons stand still, and the directions of small ones do."""
    speed = jnp.where(
        saddle.is_large, jnp.hypot(moves.turning, moves.growth), moves.turning
    )
    limit = jnp.where(saddle.is_large, REST, SETTLED) * saddle.speed
    return jnp.all(speed <= limit)


def only_grow(saddle: Saddle, moves: Motion) -> Bool[Array, " m"]:
    """Small neurons that grow or shrink and hardly turn, while large ones move.

    Others, where nothing pulls, may turn for as long as large neurons take to rest.
    """
    speed = jnp.where(saddle.is_large, jnp.hypot(moves.turning, moves.growth), 0)
    is_moving = jnp.max(speed) > REST * saddle.speed
    grows = jnp.abs(moves.growth) > GROWS * saddle.speed
    hardly = moves.turning <= HARDLY * jnp.abs(moves.growth)
    return is_moving & ~saddle.is_large & grows & hardly


def fallen(saddle: Saddle, moves: Motion) -> Saddle:
    """Large neurons that shrink to nothing are small from then on, with u = 0."""
    is_shrinking = moves.growth < -GROWS * saddle.speed
    falls = saddle.is_large & is_shrinking & (moves.size < LEAVING * saddle.size)
    return dataclasses.replace(
        saddle,
        is_large=saddle.is_large & ~falls,
        exponent=jnp.where(falls, 0, saddle.exponent),
    )


def next_jump(saddle: Saddle, moves: Motion, sign: Float[Array, " m"]) -> NextJump:
    """From a saddle at rest."""
    counts = ~saddle.is_large & (jnp.abs(moves.growth) > GROWS * saddle.speed)
    rate = jnp.where(counts, moves.growth, 0)
    wait = jnp.where(
        rate > 0, jnp.maximum(saddle.exponent, 0) / positive_or_one(rate), jnp.inf
    )
    first = jnp.argmin(wait)
    leaves = (rate > 0) & (wait <= wait[first] * (1 + SAME_WAIT))
    distance = norm_of_rows(moves.unit - moves.unit[first][None, :])
    is_another = (distance > SAME_DIRECTION) | (sign != sign[first])
    return NextJump(
        rate,
        jnp.any(rate > 0),
        wait[first],
        leaves,
        first,
        jnp.any(leaves & is_another),
    )


def resized(
    orbit: FlowState, factor: Float[Array, " m"], is_balanced: Bool[Array, " m"]
) -> FlowState:
    """Neurons times factors; those that are balanced get |a| = |w| exactly.

    Patterns and clearances know of directions only, and stay.
    """
    neurons, column = orbit.memory.neurons, factor[:, None]
    w, a = neurons.w * column, neurons.a * column
    exact = jnp.sign(a) * norm_of_rows(w)[:, None]
    a = jnp.where(is_balanced[:, None], exact, a)
    rates = neurons.rates
    rates = rates._replace(w=rates.w * column, a=rates.a * column)
    sliding = dataclasses.replace(
        neurons.sliding,
        **{k: getattr(neurons.sliding, k) * column for k in _IN_UNITS_OF_WEIGHT},
    )
    neurons = dataclasses.replace(neurons, w=w, a=a, rates=rates, sliding=sliding)
    return dataclasses.replace(
        orbit,
        network=with_weights(orbit.network, w, a),
        memory=dataclasses.replace(orbit.memory, neurons=neurons),
    )
