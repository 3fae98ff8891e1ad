"""Where a network is: weights, sides of the hyperplanes, pins, and the field there."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import Real
from simbias.flows._course import Pins, no_pins
from simbias.flows._frozen import Rates, Sample, frozen_field, neurons_first
from simbias.flows._norms import norm, norm_of_rows, rounding_of
from simbias.flows._pins import jumps
from simbias.precision import matmul

# Share of its size by which the fastest neurons move in the first step.
_FIRST = 1e-2


class Position(eqx.Module):
    """Weights, the side of every hyperplane they are on, and the field there."""

    w: Float[Array, "m e"]
    a: Float[Array, "m k"]
    is_above: Bool[Array, "m n"]
    pins: Pins
    rates: Rates


def first_position(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    sample: Sample,
    slope: float,
    capacity: int,
) -> Position:
    """No neuron is pinned.

    On a hyperplane the convention is that of the gradient, σ'(0) = 0 (or the negative
    slope): a neuron counts as on the side to which that sends it, and as below if to
    none.  Where that side pushes it back its first step finds out.  If this leaves a
    ReLU neuron without active samples, as one with w = 0, it is dead: none it is on
    ever is, whichever way they point.
    """
    pins = no_pins(w, capacity)
    is_reversed = sample.planes.is_reversed[None, :]
    h = products(w, sample)[:, sample.planes.first]
    is_on = jnp.abs(h) <= rounding_of(w)
    rates = lambda is_above: rates_at(w, a, is_above, pins, sample, slope)
    # No sample of a plane that the neuron is on is active.
    is_above = jnp.where(is_on, is_reversed, h > 0)
    speed = products(rates(is_above).w, sample)[:, sample.planes.first]
    is_dead = ~jnp.any(is_above ^ is_reversed, axis=1, keepdims=True) & (slope == 0)
    is_above = jnp.where(is_on & ~is_dead, speed > 0, is_above)
    return Position(w, a, is_above, pins, rates(is_above))


def choices_at_start(
    position: Position, sample: Sample, slope: float
) -> Int[Array, ""]:
    """Planes on which a neuron starts and that push it away on both sides.

    And neurons that start at w = 0 with an a that something pulls on: rest is one of
    their solutions.
    """
    w, a = position.w, position.a
    h = products(w, sample)
    is_plane = jnp.any(sample.normal != 0, axis=1)[None, :]
    is_on = (jnp.abs(h) <= rounding_of(w)) & is_plane
    pull = sample.pulls(position.rates.residual)
    jump = jumps(a, jnp.broadcast_to(pull, (len(a), *pull.shape)), slope)
    speed = products(position.rates.w, sample)
    above = jnp.where(position.is_above, speed, speed + jump)
    leaves = jnp.any(w != 0, axis=1, keepdims=True) & (above > 0) & (above < jump)
    is_pulled = ~jnp.any(w != 0, axis=1) & jnp.any(is_plane & (jump != 0), axis=1)
    return (jnp.sum(is_on & leaves) + jnp.sum(is_pulled)).astype(jnp.int32)


def first_length(position: Position) -> Float[Array, ""]:
    """Time in which the fastest neuron moves by a small share of its size."""
    size = norm_of_rows(position.w, position.a)
    speed = norm_of_rows(position.rates.w, position.rates.a)
    rate = jnp.max(jnp.where(size > 0, speed / jnp.where(size > 0, size, 1), 0))
    return _FIRST / jnp.where(rate > 0, rate, _FIRST)


def is_at_rest(
    position: Position,
    sample: Sample,
    prediction: Float[Array, "n k"],
    rest: Real,
) -> Bool[Array, ""]:
    """|θ'| against Σᵢ |rᵢ||xᵢ| over active samples, and L against that of f = 0."""
    rates, w, a = position.rates, position.w, position.a
    limit = jnp.asarray(rest, w.dtype)
    pull = jnp.sqrt(jnp.sum(rates.residual**2, axis=1)) * sample.length
    is_active = position.is_above ^ sample.planes.is_reversed[None, :]
    unsigned = jnp.sum(jnp.where(is_active, pull[None, :], 0), axis=1)
    unsigned = (unsigned * norm_of_rows(w, a))[:, None]
    is_still = norm(rates.w, rates.a) <= limit * norm(unsigned)
    start = sample.loss(jnp.zeros_like(sample.y), sample.y, sample.weight)
    loss = sample.loss(prediction, sample.y, sample.weight)
    return is_still | (loss <= limit**2 * start)


def rates_at(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_above: Bool[Array, "m n"],
    pins: Pins,
    sample: Sample,
    slope: float,
) -> Rates:
    """The field, evaluated anew."""
    field = frozen_field(is_above, slope, pins.plane, pins.dual, sample)
    return neurons_first(field(w.T, a.T))


def products(w: Float[Array, "m e"], sample: Sample) -> Float[Array, "m n"]:
    """w·u of every plane, u its unit normal, in the place of its first row."""
    return matmul(w, sample.normal.T)
