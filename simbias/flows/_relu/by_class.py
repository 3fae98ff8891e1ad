"""The frozen field over all neurons, or over their representatives if these are few."""

from collections.abc import Callable

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.classes import Classes
from simbias.flows._relu.course import Pins
from simbias.flows._relu.frozen import (
    Rates,
    Sample,
    frozen_field,
    neurons_first,
    neurons_last,
)
from simbias.flows._relu.led import Led
from simbias.flows._relu.position import Position, rates_at
from simbias.flows._relu.representatives import Representatives, representatives
from simbias.flows._relu.smooth_step import Smooth, Stiffness, smooth_step
from simbias.numerics.conditionals import when


def frozen_step(
    position: Position,
    sample: Sample,
    length: Float[Array, ""],
    solver: diffrax.AbstractERK,
    slope: float,
    stiffness: Stiffness | None,
) -> Smooth:
    """One step with the pattern frozen; neurons last."""

    def of_all(here, _):
        position, sample, length, stiffness = here
        sides, pins, led = position.is_above, position.pins, position.led
        sides = sides if led is None else led.of_class(sides)
        field = frozen_field(sides, slope, pins.plane, pins.dual, sample)
        rate = neurons_last(position.rates)
        y0 = _at_rest(rate, position.w.T, position.a.T)
        return smooth_step(field, y0, rate, length, solver, stiffness)

    def of_few(few, here):
        position, sample, length, stiffness = here
        field = few.field(position.is_above, position.pins, sample, slope)
        rate = few.rates(neurons_last(position.rates), position.pins, sample)
        w, a = few.weights(position.w.shape[1])
        y0 = _at_rest(rate, w, a)
        if stiffness is not None:
            stiffness = stiffness.along(few.down)
        new = smooth_step(field, y0, rate, length, solver, stiffness)
        moved = few.up(new.end.w - w, new.end.a - a)
        end = few.up_rates(new.end)
        return new._replace(
            end=end._replace(w=position.w.T + moved[0], a=position.a.T + moved[1]),
            error=few.up_rates(new.error),
            late=few.up_rates(new.late),
            stiffness=None if new.stiffness is None else new.stiffness.along(few.up),
        )

    here = position, sample, length, stiffness
    few = _few(position.w, position.a, position.classes, position.pins, sample)
    return _chosen(of_all, of_few, few, here)


def field_at(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_above: Bool[Array, "m n"],
    pins: Pins,
    classes: Classes | None,
    sample: Sample,
    slope: float,
    led: Led | None = None,
) -> Rates:
    """The field, evaluated anew; neurons first."""

    def of_all(here, _):
        w, a, is_above, pins, sample, led = here
        return rates_at(w, a, is_above, pins, sample, slope, led)

    def of_few(few, here):
        w, _, is_above, pins, sample, _ = here
        rates = few.field(is_above, pins, sample, slope)(*few.weights(w.shape[1]))
        return neurons_first(few.up_rates(rates))

    here = w, a, is_above, pins, sample, led
    return _chosen(of_all, of_few, _few(w, a, classes, pins, sample), here)


def _few(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    classes: Classes | None,
    pins: Pins,
    sample: Sample,
) -> Representatives | None:
    return None if classes is None else representatives(w, a, classes, pins, sample)


def _chosen(
    of_all: Callable, of_few: Callable, few: Representatives | None, here: tuple
):
    """By all neurons, or by a few of them where these are enough."""
    if few is None:
        return of_all(here, None)
    shapes = jax.eval_shape(of_all, here, None)
    new = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shapes)
    new = when(of_all)(~few.is_enough, here, new)
    by_few = lambda context, _: of_few(*context)
    return when(by_few)(few.is_enough, (few, here), new)


def _at_rest(like: Rates, w: Float[Array, "e s"], a: Float[Array, "k s"]) -> Rates:
    """Weights in the place of rates, with nothing of what rides along."""
    return jax.tree.map(jnp.zeros_like, like)._replace(w=w, a=a)
