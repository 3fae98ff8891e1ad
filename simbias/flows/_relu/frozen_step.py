"""The frozen field of all neurons, or of their representatives if these are few."""

from collections.abc import Callable

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.activation_classes import ActivationClasses
from simbias.flows._relu.class_basis import ClassBasis, class_basis
from simbias.flows._relu.frozen_field import (
    FlowVector,
    Sample,
    frozen_field,
    neurons_first,
    neurons_last,
)
from simbias.flows._relu.neuron_state import NeuronState, rates_at
from simbias.flows._relu.represented_neurons import RepresentedNeurons
from simbias.flows._relu.smooth_step import Smooth, Stiffness, smooth_step
from simbias.flows._relu.step_trajectory import Sliding
from simbias.numerics.conditionals import if_else


def frozen_step(
    neurons: NeuronState,
    sample: Sample,
    length: Float[Array, ""],
    solver: diffrax.AbstractERK,
    slope: float,
    stiffness: Stiffness | None,
) -> Smooth:
    """One step with the pattern frozen; neurons last."""

    def of_all(here):
        neurons, sample, length, stiffness = here
        sides, sliding, represented = (
            neurons.is_above,
            neurons.sliding,
            neurons.represented,
        )
        sides = sides if represented is None else represented.of_class(sides)
        field = frozen_field(sides, slope, sliding.plane, sliding.dual, sample)
        rate = neurons_last(neurons.rates)
        y0 = _state(rate, neurons.w.T, neurons.a.T)
        return smooth_step(field, y0, rate, length, solver, stiffness)

    def of_basis(basis, here):
        neurons, sample, length, stiffness = here
        field = basis.field(neurons.is_above, neurons.sliding, sample, slope)
        rate = basis.rates(neurons_last(neurons.rates), neurons.sliding, sample)
        w, a = basis.weights(neurons.w.shape[1])
        y0 = _state(rate, w, a)
        if stiffness is not None:
            stiffness = stiffness.along(basis.down)
        new = smooth_step(field, y0, rate, length, solver, stiffness)
        moved = basis.up(new.end.w - w, new.end.a - a)
        end = basis.up_rates(new.end)
        return new._replace(
            end=end._replace(w=neurons.w.T + moved[0], a=neurons.a.T + moved[1]),
            error=basis.up_rates(new.error),
            end_rates=basis.up_rates(new.end_rates),
            stiffness=None if new.stiffness is None else new.stiffness.along(basis.up),
        )

    here = neurons, sample, length, stiffness
    basis = _basis(neurons.w, neurons.a, neurons.classes, neurons.sliding, sample)
    return _chosen(of_all, of_basis, basis, here)


def field_at(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_above: Bool[Array, "m n"],
    sliding: Sliding,
    classes: ActivationClasses | None,
    sample: Sample,
    slope: float,
    represented: RepresentedNeurons | None,
) -> FlowVector:
    """The field, evaluated anew; neurons first."""

    def of_all(here):
        w, a, is_above, sliding, sample, represented = here
        return rates_at(w, a, is_above, sliding, sample, slope, represented)

    def of_basis(basis, here):
        w, _, is_above, sliding, sample, _ = here
        rates = basis.field(is_above, sliding, sample, slope)(
            *basis.weights(w.shape[1])
        )
        return neurons_first(basis.up_rates(rates))

    here = w, a, is_above, sliding, sample, represented
    return _chosen(of_all, of_basis, _basis(w, a, classes, sliding, sample), here)


def _basis(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    classes: ActivationClasses | None,
    sliding: Sliding,
    sample: Sample,
) -> ClassBasis | None:
    return None if classes is None else class_basis(w, a, classes, sliding, sample)


def _chosen(
    of_all: Callable, of_basis: Callable, basis: ClassBasis | None, here: tuple
):
    """By all neurons, or by the basis of their classes where there is room for it."""
    if basis is None:
        return of_all(here)
    by_basis = lambda context: of_basis(*context)
    by_all = lambda context: of_all(context[1])
    return if_else(by_basis, by_all)(basis.fits, (basis, here))


def _state(
    like: FlowVector, w: Float[Array, "e s"], a: Float[Array, "k s"]
) -> FlowVector:
    """A state: weights in the place of rates, moments and residuals 0."""
    return jax.tree.map(jnp.zeros_like, like)._replace(w=w, a=a)
