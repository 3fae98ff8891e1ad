"""All neurons, corrected for what the events of a step change in the residuals."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.activation_classes import ActivationClasses, activation_classes
from simbias.flows._relu.frozen_field import FlowVector, Sample
from simbias.flows._relu.frozen_step import field_at
from simbias.flows._relu.integrate_step import IntegratedStep, Options
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.norms import norm_of_rows
from simbias.flows._relu.step_trajectory import Sliding
from simbias.numerics.conditionals import when


class Coupled(NamedTuple):
    """Neurons after the correction, the correction itself, and the field there."""

    w: Float[Array, "m e"]
    a: Float[Array, "m k"]
    dw: Float[Array, "m e"]
    da: Float[Array, "m k"]
    rates: FlowVector
    classes: ActivationClasses | None


def couple(
    integrated: IntegratedStep,
    neurons: NeuronState,
    sample: Sample,
    length: Float[Array, ""],
    options: Options,
) -> Coupled:
    """The field at the end, and all neurons moved by what events changed in r."""
    trajectory, stiffness = integrated.trajectory, integrated.stiffness
    w, a, sliding = trajectory.end.w, trajectory.end.a, trajectory.sliding
    has_met = jnp.any(trajectory.event_count > 0)
    classes = classes_if(has_met, trajectory.is_above, sliding, neurons.classes)
    rates = field_at(
        w, a, trajectory.is_above, sliding, classes, sample, options.slope,
        neurons.represented,
    )  # fmt: skip
    weight = norm_of_rows(a)
    total = jnp.sum(weight * trajectory.shift)
    has_events = total > 0
    kappa = jnp.sum(weight * trajectory.remaining_shift) / jnp.where(
        has_events, total, 1
    )
    half = jnp.where(has_events, kappa / 2 * length, 0)
    if stiffness is not None:
        # What decays fast follows at once, and comes to rest at δθ' / ρ.
        decay = jnp.where(stiffness.is_stiff, stiffness.radius, 0)
        half = half / (1 + decay * half)
    dw, da = half * (rates.w - trajectory.end.dw), half * (rates.a - trajectory.end.da)
    return Coupled(w + dw, a + da, dw, da, rates, classes)


def classes_if(
    has_changed: Bool[Array, ""],
    is_above: Bool[Array, "m n"],
    sliding: Sliding,
    known: ActivationClasses | None,
) -> ActivationClasses | None:
    """The classes, found anew if sides or sliding have changed."""
    if known is None:
        return None
    anew = lambda here, _: activation_classes(*here)
    return when(anew)(has_changed, (is_above, sliding), known)
