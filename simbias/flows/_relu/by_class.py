"""The frozen field over all neurons, or over their representatives if these are few."""

from collections.abc import Callable

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.activation_classes import ActivationClasses
from simbias.flows._relu.aggregated import Aggregated
from simbias.flows._relu.class_basis import ClassBasis, class_basis
from simbias.flows._relu.frozen import (
    Rates,
    Sample,
    frozen_field,
    neurons_first,
    neurons_last,
)
from simbias.flows._relu.neuron_state import NeuronState, rates_at
from simbias.flows._relu.smooth_step import Smooth, Stiffness, smooth_step
from simbias.flows._relu.step_trajectory import Sliding
from simbias.numerics.conditionals import when


def frozen_step(
    neurons: NeuronState,
    sample: Sample,
    length: Float[Array, ""],
    solver: diffrax.AbstractERK,
    slope: float,
    stiffness: Stiffness | None,
) -> Smooth:
    """One step with the pattern frozen; neurons last."""

    def of_all(here, _):
        neurons, sample, length, stiffness = here
        sides, sliding, aggregated = (
            neurons.is_above,
            neurons.sliding,
            neurons.aggregated,
        )
        sides = sides if aggregated is None else aggregated.of_class(sides)
        field = frozen_field(sides, slope, sliding.plane, sliding.dual, sample)
        rate = neurons_last(neurons.rates)
        y0 = _at_rest(rate, neurons.w.T, neurons.a.T)
        return smooth_step(field, y0, rate, length, solver, stiffness)

    def of_few(few, here):
        neurons, sample, length, stiffness = here
        field = few.field(neurons.is_above, neurons.sliding, sample, slope)
        rate = few.rates(neurons_last(neurons.rates), neurons.sliding, sample)
        w, a = few.weights(neurons.w.shape[1])
        y0 = _at_rest(rate, w, a)
        if stiffness is not None:
            stiffness = stiffness.along(few.down)
        new = smooth_step(field, y0, rate, length, solver, stiffness)
        moved = few.up(new.end.w - w, new.end.a - a)
        end = few.up_rates(new.end)
        return new._replace(
            end=end._replace(w=neurons.w.T + moved[0], a=neurons.a.T + moved[1]),
            error=few.up_rates(new.error),
            late=few.up_rates(new.late),
            stiffness=None if new.stiffness is None else new.stiffness.along(few.up),
        )

    here = neurons, sample, length, stiffness
    few = _few(neurons.w, neurons.a, neurons.classes, neurons.sliding, sample)
    return _chosen(of_all, of_few, few, here)


def field_at(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_above: Bool[Array, "m n"],
    sliding: Sliding,
    classes: ActivationClasses | None,
    sample: Sample,
    slope: float,
    aggregated: Aggregated | None = None,
) -> Rates:
    """The field, evaluated anew; neurons first."""

    def of_all(here, _):
        w, a, is_above, sliding, sample, aggregated = here
        return rates_at(w, a, is_above, sliding, sample, slope, aggregated)

    def of_few(few, here):
        w, _, is_above, sliding, sample, _ = here
        rates = few.field(is_above, sliding, sample, slope)(*few.weights(w.shape[1]))
        return neurons_first(few.up_rates(rates))

    here = w, a, is_above, sliding, sample, aggregated
    return _chosen(of_all, of_few, _few(w, a, classes, sliding, sample), here)


def _few(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    classes: ActivationClasses | None,
    sliding: Sliding,
    sample: Sample,
) -> ClassBasis | None:
    return None if classes is None else class_basis(w, a, classes, sliding, sample)


def _chosen(of_all: Callable, of_few: Callable, few: ClassBasis | None, here: tuple):
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
