"""The error of an attempted step, in units of the tolerance."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.coupling import Coupled
from simbias.flows._relu.frozen_field import FlowVector
from simbias.flows._relu.integrate_step import IntegratedStep, Options
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.noninteracting.follow import lag_of_growth
from simbias.flows._relu.norms import norm_of_rows
from simbias.flows._relu.releases import EndState
from simbias.flows._relu.represented_neurons import RepresentedNeurons, sizes

# Powers of the step in the errors of one event, and of what it does to the others.
_EVENT_ORDER, _COUPLING_ORDER = 3, 2


def error_of_step(
    integrated: IntegratedStep,
    coupled: Coupled,
    end: EndState,
    neurons: NeuronState,
    options: Options,
    is_at_event_limit: Bool[Array, " m"],
) -> Float[Array, ""]:
    """The largest of the errors of method, events and coupling, over the tolerance.

    Each to the power that makes it one of the order of the method.
    """
    share = _share_of(neurons)
    let_go = share(end.w - coupled.w)
    moved = share(integrated.end.w - neurons.w, integrated.end.a - neurons.a)
    change = moved + _change(neurons.rates.moment, integrated.end_rates.moment)
    kink = share(integrated.trajectory.shift[:, None]) * change ** (_EVENT_ORDER - 1)
    kink = kink + let_go * change + jnp.where(is_at_event_limit, moved, 0)
    relative = lambda v: _root_mean_square(v, moved, neurons.represented) / options.rtol
    return jnp.maximum(
        relative(share(integrated.error.w, integrated.error.a)),
        jnp.maximum(
            relative(kink) ** (integrated.order / _EVENT_ORDER),
            relative(share(coupled.dw, coupled.da))
            ** (integrated.order / _COUPLING_ORDER),
        ),
    )


def error_of_noninteracting(
    integrated: IntegratedStep,
    rates: FlowVector,
    neurons: NeuronState,
    length: Float[Array, ""],
    options: Options,
    weight_decay: Float[Array, ""] | None,
) -> Float[Array, ""]:
    """The error of noninteracting neurons: what f changes in the residuals."""
    share, end = _share_of(neurons), integrated.trajectory.end
    moved = share(integrated.end.w - neurons.w, integrated.end.a - neurons.a)
    interaction_error = lag_of_growth(neurons, length, weight_decay) * share(
        rates.w - end.dw, rates.a - end.da
    )
    interaction_error = (
        _root_mean_square(interaction_error, moved, neurons.represented) / options.rtol
    )
    return jnp.where(
        jnp.all(integrated.trajectory.fraction == 1), interaction_error, jnp.inf
    )


def _share_of(neurons: NeuronState) -> Callable[..., Float[Array, " m"]]:
    """Of changes of w, or of w and a, the norms relative to |(w, a)|."""
    size = sizes(neurons.w, neurons.a, neurons.represented)
    return lambda *parts: norm_of_rows(*parts) / jnp.where(size > 0, size, 1)


def _root_mean_square(
    value: Float[Array, " m"],
    moved: Float[Array, " m"],
    represented: RepresentedNeurons | None,
) -> Float[Array, ""]:
    """The root of Σ value² over the number of neurons, counted by displacement.

    So neurons at rest do not dilute the error.  A neuron of an aggregated network
    counts for all that it represents, and the errors of the rows of a class add up.
    """
    count = jnp.ones_like(value)
    if represented is not None:
        value, is_largest = (
            value * jnp.sqrt(represented.count),
            represented.is_largest(),
        )
        count, moved = (jnp.where(is_largest, v, 0) for v in (represented.count, moved))
    most = jnp.max(moved)
    part = jnp.where(most > 0, moved / jnp.where(most > 0, most, 1), 1)
    return jnp.sqrt(jnp.sum(value**2) / jnp.sum(count * part))


def _change(
    early: Float[Array, "m k e"], late: Float[Array, "m k e"]
) -> Float[Array, " m"]:
    """By what share of itself the moment of each neuron changes in the step.

    Events take the moments to be linear in time.  For a neuron that hardly moves it is
    the others that bend them.
    """
    early, late = (v.reshape(v.shape[0], -1) for v in (early, late))
    size = norm_of_rows(early, late)
    return norm_of_rows(late - early) / jnp.where(size > 0, size, 1)
