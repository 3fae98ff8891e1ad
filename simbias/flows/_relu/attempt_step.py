"""One attempted step of the exact flow of a ReLU network."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.activation_classes import ActivationClasses
from simbias.flows._relu.clearance import clearance_after
from simbias.flows._relu.coupling import Coupled, classes_if, couple
from simbias.flows._relu.events import MAX_EVENTS, Events, kinds_of_leaving
from simbias.flows._relu.frozen_field import FlowVector, Sample
from simbias.flows._relu.integrate_step import (
    Options,
    integrate_step,
    whole_step,
)
from simbias.flows._relu.masked_rows import on_wanted_rows, pack_rows, rows_at_once
from simbias.flows._relu.neuron_state import NeuronState, nonunique_at_apex
from simbias.flows._relu.norms import largest_of_rows, norm_of_rows, rounding
from simbias.flows._relu.releases import EndState, release
from simbias.flows._relu.represented_neurons import RepresentedNeurons, sizes
from simbias.flows._relu.single_neuron import velocity
from simbias.flows._relu.sliding import sliding_normals
from simbias.flows._relu.smooth_step import Stiffness
from simbias.flows._relu.step_error import error_of_noninteracting, error_of_step
from simbias.flows._relu.step_trajectory import Trajectory, control_points
from simbias.numerics.precision import matmul

# A step whose events contradict its end is tried again at about half its length.
_HALVE = 1.8


class Attempt(NamedTuple):
    """Where the step ends, its error in units of the tolerance, and its events."""

    neurons: NeuronState
    error: Float[Array, ""]
    order: Float[Array, ""]
    evaluations: Int[Array, ""]
    stiffness: Stiffness | None
    crossings: Int[Array, ""]
    slides: Int[Array, ""]
    released: Int[Array, ""]
    nonunique_events: Int[Array, ""]
    has_no_slot: Bool[Array, ""]
    events: Events | None
    leaves_aggregation: Bool[Array, ""] | None


def attempt_step(
    neurons: NeuronState,
    sample: Sample,
    length: Float[Array, ""],
    options: Options,
    stiffness: Stiffness | None,
    is_noninteracting: Bool[Array, ""] | None,
) -> Attempt:
    """Integrate with the pattern frozen, then put right what met a hyperplane.

    1. A Runge–Kutta step of the frozen field gives r(t) and a trajectory for every
       neuron.
    2. Neurons that meet hyperplanes follow their events under that r(t).
    3. The field is evaluated anew.  The change of r by the events moves all neurons a
       little.  It grows about linearly from each event to the end, so neurons move by
       κ/2 of the step times the change of their velocity.  κ is the mean fraction of
       the step that remains after an event, weighted by |a| times the event's `shift`.
    4. Neurons whose sliding no longer holds are released.

    Where it `is_noninteracting`, each neuron is followed by itself instead, under
    constant residuals.  The error is what f changes in the residuals.
    """
    integrated = integrate_step(
        neurons, sample, length, options, stiffness, is_noninteracting
    )
    coupled = couple(integrated, neurons, sample, length, options)
    is_at_event_limit = integrated.trajectory.event_count >= MAX_EVENTS
    if is_noninteracting is not None:
        is_at_event_limit &= ~is_noninteracting
    end, is_undone = _released(
        integrated.trajectory,
        coupled,
        neurons,
        sample,
        length,
        options,
        is_at_event_limit,
    )
    error = error_of_step(integrated, coupled, end, neurons, options, is_at_event_limit)
    if is_noninteracting is not None:
        interaction_error = error_of_noninteracting(
            integrated, coupled.rates, neurons, length, options, sample.weight_decay
        )
        error = jnp.where(is_noninteracting, interaction_error, error)
    tried_again = jnp.maximum(error, _HALVE**integrated.order)
    error = jnp.where(jnp.any(is_undone | end.overshoots), tried_again, error)
    if not sample.is_output_frozen:
        decay = sample.weight_decay
        factor = None if decay is None else jnp.exp(-2 * decay * length)
        w, a = _rebalanced(end.w, end.a, neurons, factor)
        end = end._replace(w=w, a=a)

    trajectory, represented = integrated.trajectory, neurons.represented
    pull = sample.pulls(coupled.rates.residual)
    at_apex = nonunique_at_apex(neurons, end.w, end.a, pull, sample, options.slope)
    has_changed = jnp.any(end.released > 0) | jnp.any(is_at_event_limit)
    classes = classes_if(has_changed, end.is_above, end.sliding, coupled.classes)
    clearance = integrated.clearance
    if clearance is not None:
        clearance = clearance_after(clearance, trajectory.end.w, end.w)
        clearance = jnp.where(end.released > 0, 0, clearance)
    leaves_aggregation = None
    if represented is not None:
        points = control_points(
            whole_step(neurons, integrated.end, integrated.end_rates), length
        )
        leaves_aggregation = represented.may_meet(*points, end.w) | ~represented.hold(
            end.sliding
        )
    behind = (
        jnp.int32(1) if represented is None else represented.count.astype(jnp.int32)
    )
    count = lambda v: jnp.sum(v * behind).astype(jnp.int32)
    residual = coupled.rates.residual
    return Attempt(
        neurons=_arrived(end, residual, sample, classes, clearance, represented),
        error=error,
        order=integrated.order,
        evaluations=integrated.evaluations,
        stiffness=integrated.stiffness,
        crossings=count(trajectory.crossings),
        slides=count(trajectory.slides),
        released=count(trajectory.released) + count(end.released),
        nonunique_events=count(end.nonunique_events + at_apex),
        has_no_slot=jnp.any(trajectory.has_no_slot),
        events=_with_releases(trajectory, end),
        leaves_aggregation=leaves_aggregation,
    )


def _released(
    trajectory: Trajectory,
    coupled: Coupled,
    neurons: NeuronState,
    sample: Sample,
    length: Float[Array, ""],
    options: Options,
    is_at_event_limit: Bool[Array, " m"],
) -> tuple[EndState, Bool[Array, " m"]]:
    """Neurons after releases, and those whose events need a new attempt."""
    w, a, rates = coupled.w, coupled.a, coupled.rates
    drive = length * jnp.sum(a[:, :, None] * rates.moment, axis=1)
    limit = rounding(w) * largest_of_rows(w, neurons.w, drive)
    is_above, is_undone = _sides_at_end(
        trajectory, neurons, sample, w, limit, is_at_event_limit
    )
    none = jnp.zeros(w.shape[:1], jnp.int32)
    no = jnp.zeros_like(is_undone)
    end = EndState(
        w, a, rates.moment, is_above, trajectory.sliding, none,
        trajectory.nonunique_events, no,
    )  # fmt: skip
    rows = options.row_count(*neurons.is_above.shape)
    pull = sample.pulls(rates.residual)
    represented = neurons.represented
    tolerance = options.rtol * sizes(neurons.w, neurons.a, represented)
    follow_own_events = None if represented is None else represented.follow_own_events()
    end = release(
        end, sample, pull, length, options.slope, tolerance, rows, follow_own_events
    )
    return end, is_undone


def _with_releases(trajectory: Trajectory, end: EndState) -> Events | None:
    """The events of the step, with the planes that neurons leave at its end."""
    if trajectory.events is None:
        return None
    plane = trajectory.sliding.plane
    leaves = (plane >= 0) & (end.sliding.plane != plane)
    plane = jnp.maximum(plane, 0)
    is_up = jnp.take_along_axis(end.is_above, plane, axis=1)
    now = jnp.ones_like(trajectory.fraction)
    return trajectory.events.noted(now, plane, kinds_of_leaving(is_up, leaves))


def _sides_at_end(
    trajectory: Trajectory,
    neurons: NeuronState,
    sample: Sample,
    w: Float[Array, "m e"],
    limit: Float[Array, " m"],
    is_at_event_limit: Bool[Array, " m"],
) -> tuple[Bool[Array, "m n"], Bool[Array, " m"]]:
    """Sides at the end of a step, and neurons whose events did not bring them there.

    Neurons whose events did not end get the sides on which `w` lies.  `w` is off a
    plane if it is further from it than `limit`.  The field was evaluated with the sides
    before: the next step begins with that error, which its own estimate contains.
    """
    m, n = trajectory.is_above.shape
    first = sample.planes.first

    def look(context, some):
        w, limit, is_at_event_limit, before, normal, first = context
        place, is_above, _, _ = some
        take = lambda v: v.at[place].get(mode="clip")
        h, limit = matmul(take(w), normal.T), take(limit)[:, None]
        is_off = jnp.where(is_above, h < -limit, h > limit)
        is_at_event_limit = take(is_at_event_limit)
        is_reset = (is_off & is_at_event_limit[:, None])[:, first]
        flipped = is_above != take(before)
        is_undone = jnp.any(is_off & flipped, axis=1) & ~is_at_event_limit
        is_above = jnp.where(is_reset, (h > 0)[:, first], is_above)
        return place, is_above, is_undone, place < 0

    place, no = jnp.arange(m, dtype=jnp.int32), jnp.zeros(m, bool)
    tree = place, trajectory.is_above, no, trajectory.event_count > 0
    context = w, limit, is_at_event_limit, neurons.is_above, sample.normal, first
    wanted, every = lambda v: v[3], pack_rows(tree)
    every = on_wanted_rows(look, wanted, context, every, rows_at_once(m, n))
    _, is_above, is_undone, _ = every.tree
    return is_above, is_undone


def _rebalanced(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    before: NeuronState,
    factor: Float[Array, ""] | None = None,
) -> tuple[Float[Array, "m e"], Float[Array, "m k"]]:
    """Put |a|² − |w|² of every neuron back to what the flow makes of it.

    The flow keeps it, and a decay μ multiplies it by the `factor` e^{−2μt}.

    (1 + δ)w and (1 − δ)a, to first order the nearest point with that value.  No sign of
    w·x changes, and a·w only by δ²: nothing that was computed at (w, a) is touched.

    Reference: Hairer, Lubich & Wanner (2006), Geometric numerical integration, IV.4.
    """
    size = norm_of_rows(w, a)[:, None]
    unit = jnp.where(size > 0, size, 1)
    square = lambda v: jnp.sum((v / unit) ** 2, axis=1, keepdims=True)
    faded = lambda v: v if factor is None else factor * v
    change = square(a) - square(w) - faded(square(before.a) - square(before.w))
    delta = change / 2
    return (1 + delta) * w, (1 - delta) * a


def _arrived(
    end: EndState,
    residual: Float[Array, "n k"],
    sample: Sample,
    known: ActivationClasses | None,
    clearance: Float[Array, " m"] | None,
    represented: RepresentedNeurons | None,
) -> NeuronState:
    normals = sliding_normals(sample.normal, end.sliding.plane)
    dw, da = velocity(end.w, end.a, end.moment, normals, end.sliding.dual, sample)
    rates = FlowVector(dw, da, end.moment, residual)
    return NeuronState(
        end.w, end.a, end.is_above, end.sliding, rates, known, clearance, represented
    )
