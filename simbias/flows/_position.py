"""Where a network is: weights, sides of the hyperplanes, pins, and the field there."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import Real
from simbias.flows._course import Pins, no_pins
from simbias.flows._frozen import Rates, Sample, frozen_field, neurons_first
from simbias.flows._norms import norm, norm_of_rows
from simbias.precision import matmul

# Share of its size by which the fastest neurons move in the first step.
_FIRST = 1e-2


class Position(eqx.Module):
    """Weights, the side of every hyperplane they are on, and the field there."""

    w: Float[Array, "m e"]
    a: Float[Array, "m k"]
    is_active: Bool[Array, "m n"]
    pins: Pins
    rates: Rates


def first_position(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    sample: Sample,
    slope: float,
    capacity: int,
) -> Position:
    """No neuron is pinned; h = 0 counts as inactive."""
    pins = no_pins(w, capacity)
    is_active = products(w, sample) > 0
    return Position(
        w, a, is_active, pins, rates_at(w, a, is_active, pins, sample, slope)
    )


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
    unsigned = jnp.sum(jnp.where(position.is_active, pull[None, :], 0), axis=1)
    unsigned = (unsigned * norm_of_rows(w, a))[:, None]
    is_still = norm(rates.w, rates.a) <= limit * norm(unsigned)
    start = sample.loss(jnp.zeros_like(sample.y), sample.y, sample.weight)
    loss = sample.loss(prediction, sample.y, sample.weight)
    return is_still | (loss <= limit**2 * start)


def rates_at(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_active: Bool[Array, "m n"],
    pins: Pins,
    sample: Sample,
    slope: float,
) -> Rates:
    """The field, evaluated anew."""
    field = frozen_field(is_active, slope, pins.sample, pins.dual, sample)
    return neurons_first(field(w.T, a.T))


def products(w: Float[Array, "m e"], sample: Sample) -> Float[Array, "m n"]:
    """w·x/|x|."""
    return matmul(w, sample.unit.T)
