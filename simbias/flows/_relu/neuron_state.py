"""Weights, sides of the hyperplanes, what neurons slide on, and the field there."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.activation_classes import (
    ActivationClasses,
    activation_classes,
    may_be_worth_it,
)
from simbias.flows._relu.frozen_field import (
    FlowVector,
    Sample,
    frozen_field,
    neurons_first,
)
from simbias.flows._relu.masked_rows import PAYS
from simbias.flows._relu.norms import norm_of_rows, rounding, rounding_of
from simbias.flows._relu.represented_neurons import RepresentedNeurons
from simbias.flows._relu.sliding import jumps
from simbias.flows._relu.step_trajectory import Sliding, no_sliding
from simbias.numerics.conditionals import when
from simbias.numerics.planes import Planes, orientation
from simbias.numerics.precision import matmul

# A speed below this many roundings of what it is the sum of is none.
_NOTHING = 100
# Share of its size by which the fastest neurons move in the first step.
_FIRST = 1e-2


class NeuronState(eqx.Module):
    """Weights, the side of every hyperplane they are on, and the field there.

    `classes` and `clearance` are None where they are not worth knowing.  `represented`
    is None except in a network that stands for a wide one (`aggregation`).
    """

    w: Float[Array, "m e"]
    a: Float[Array, "m k"]
    is_above: Bool[Array, "m n"]
    sliding: Sliding
    rates: FlowVector
    classes: ActivationClasses | None
    clearance: Float[Array, " m"] | None
    represented: RepresentedNeurons | None = None


def first_neurons(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    sample: Sample,
    slope: float,
    capacity: int,
) -> NeuronState:
    """No neuron slides.

    On a hyperplane the convention is that of the gradient, σ'(0) = 0 (or the negative
    slope): a neuron counts as on the side to which that sends it.  Where that side
    pushes it back its first step finds out.  If it sends it to none, see `_side`.  A
    ReLU neuron without a strictly active sample, such as one with w = 0, is dead: the
    samples on whose hyperplanes it lies count as inactive.
    """
    sliding = no_sliding(w, capacity)
    is_reversed = sample.planes.is_reversed[None, :]
    h = products(w, sample)[:, sample.planes.first]
    is_on = jnp.abs(h) <= rounding_of(w)
    rates = lambda is_above: rates_at(w, a, is_above, sliding, sample, slope)
    # No sample of a plane that the neuron is on is active.
    is_above = jnp.where(is_on, is_reversed, h > 0)
    is_dead = ~jnp.any(is_above ^ is_reversed, axis=1, keepdims=True) & (slope == 0)
    goes_up = _side(a, rates(is_above), sample, slope)[:, sample.planes.first]
    is_above = jnp.where(is_on & ~is_dead, goes_up, is_above)
    is_worth_it = may_be_worth_it(len(w), w.shape[1] + a.shape[1])
    classes = activation_classes(is_above, sliding) if is_worth_it else None
    # Classes can be aggregated only where it is known how far their neurons may turn.
    is_worth_it |= len(w) * len(sample.x) >= PAYS
    clearance = jnp.zeros(w.shape[:1], w.dtype) if is_worth_it else None
    return NeuronState(w, a, is_above, sliding, rates(is_above), classes, clearance)


def _side(
    a: Float[Array, "m k"], rates: FlowVector, sample: Sample, slope: float
) -> Bool[Array, "m n"]:
    """Whether a neuron on a plane starts above it, in the place of its first row.

    `rates` are those of σ'(0) = 0: no sample of the plane is active.  If they move the
    neuron neither up nor down it stays on a side that leaves it where it is, or else
    goes to that of the greater speed; if they are equal `orientation` decides, which
    knows nothing of the order of the samples.
    """
    planes = sample.planes
    sample_pull = sample.norm_x[:, None] * rates.residual
    split = lambda kept: planes.totals(jnp.where(kept[:, None], sample_pull, 0))
    side_change = lambda total: jumps(
        a, jnp.broadcast_to(total, (len(a), *total.shape)), slope
    )
    up = side_change(split(~planes.is_reversed))
    down = -side_change(split(planes.is_reversed))
    size = jnp.sum(jnp.abs(a), axis=1, keepdims=True) * jnp.sum(jnp.abs(sample_pull))
    limit = _NOTHING * jnp.finfo(a.dtype).eps * size
    speed = products(rates.w, sample)
    greater = up + down
    tie = (orientation(sample.normal) < 0)[None, :]
    greater = jnp.where(jnp.abs(greater) > limit, greater > 0, tie)
    rests_below, rests_above = jnp.abs(down) <= limit, jnp.abs(up) <= limit
    # Below a plane all of whose samples point up none is active.
    rests = jnp.where(
        rests_below & rests_above, tie & ~_points_one_way(planes)[None, :], ~rests_below
    )
    chosen = jnp.where(rests_below | rests_above, rests, greater)
    return jnp.where(jnp.abs(speed) > limit, speed > 0, chosen)


def _points_one_way(planes: Planes) -> Bool[Array, " n"]:
    """Whether no sample of a row's plane is reversed, in the place of its first."""
    count = planes.totals(planes.is_reversed.astype(jnp.float32)[:, None])
    return count[:, 0] == 0


def nonunique_at_start(
    neurons: NeuronState, sample: Sample, slope: float
) -> Int[Array, ""]:
    """Planes on which a neuron starts and that push it away on both sides.

    And neurons that start at w = 0 with an a that something pulls on: rest is one of
    their solutions.
    """
    w, a = neurons.w, neurons.a
    h = products(w, sample)
    is_plane = sample.is_plane()[None, :]
    is_on = (jnp.abs(h) <= rounding_of(w)) & is_plane
    pull = sample.pulls(neurons.rates.residual)
    jump = jumps(a, jnp.broadcast_to(pull, (len(a), *pull.shape)), slope)
    speed = products(neurons.rates.w, sample)
    above = jnp.where(neurons.is_above, speed, speed + jump)
    leaves = jnp.any(w != 0, axis=1, keepdims=True) & (above > 0) & (above < jump)
    is_pulled = ~jnp.any(w != 0, axis=1) & jnp.any(is_plane & (jump != 0), axis=1)
    return (jnp.sum(is_on & leaves) + jnp.sum(is_pulled)).astype(jnp.int32)


def nonunique_at_apex(
    neurons: NeuronState,
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    pull: Float[Array, "n k"],
    sample: Sample,
    slope: float,
) -> Int[Array, " m"]:
    """1 for neurons that a step takes to w = 0, a ≠ 0, where a plane is concave.

    All planes meet there, and sliding holds the neuron until one of these lets go.
    Where all are convex that is the one solution; else it may leave by the others as
    well, once their sides are changed together.
    """
    at_apex = lambda w, a: norm_of_rows(w) <= rounding(w) * norm_of_rows(a)
    arrives = at_apex(w, a) & ~at_apex(neurons.w, neurons.a)

    def look(context, _):
        a, pull = context
        concave = jumps(a, jnp.broadcast_to(pull, (len(a), *pull.shape)), slope) > 0
        return jnp.any(concave, axis=1)

    none = jnp.zeros_like(arrives)
    is_open = when(look)(jnp.any(arrives), (a, pull), none)
    # On a single plane the speeds on both sides say it all.
    is_plane = sample.planes.is_first() & sample.is_plane()
    return (arrives & is_open & (jnp.sum(is_plane) > 1)).astype(jnp.int32)


def first_length(neurons: NeuronState) -> Float[Array, ""]:
    """Time in which the fastest neuron moves by a small share of its size."""
    size = norm_of_rows(neurons.w, neurons.a)
    speed = norm_of_rows(neurons.rates.w, neurons.rates.a)
    rate = jnp.max(jnp.where(size > 0, speed / jnp.where(size > 0, size, 1), 0))
    return _FIRST / jnp.where(rate > 0, rate, _FIRST)


def rates_at(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_above: Bool[Array, "m n"],
    sliding: Sliding,
    sample: Sample,
    slope: float,
    represented: RepresentedNeurons | None = None,
) -> FlowVector:
    """The field, evaluated anew."""
    sides = is_above if represented is None else represented.of_class(is_above)
    field = frozen_field(sides, slope, sliding.plane, sliding.dual, sample)
    return neurons_first(field(w.T, a.T))


def products(w: Float[Array, "m e"], sample: Sample) -> Float[Array, "m n"]:
    """w·u of every plane, u its unit normal, in the place of its first row."""
    return matmul(w, sample.normal.T)
