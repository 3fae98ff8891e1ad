"""Every neuron at the end of a step, under residuals that no event has moved."""

from dataclasses import replace
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.clearance import screen_events
from simbias.flows._relu.crossings import follow_events
from simbias.flows._relu.events import Events, no_events
from simbias.flows._relu.frozen_field import FlowVector, Sample, neurons_first
from simbias.flows._relu.frozen_step import frozen_step
from simbias.flows._relu.masked_rows import rows_at_once
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.noninteracting.follow import follow_noninteracting
from simbias.flows._relu.single_neuron import Point
from simbias.flows._relu.smooth_step import Stiffness
from simbias.flows._relu.step_trajectory import StepData, Trajectory
from simbias.flows._shared.solvers import error_order
from simbias.numerics.conditionals import if_else

# Events of a share of the neurons are followed at a time, or of so many.
_PARTS, _FEWEST = 16, 16


class Options(NamedTuple):
    """What the user chose, and the activation; `rows` None is as many as are fast.

    `rtol` may differ between members.
    """

    solver: diffrax.AbstractERK
    rtol: Float[Array, ""]
    slope: float
    rows: int | None
    max_steps: int
    records_events: bool

    def row_count(self, m: int, n: int) -> int:
        """Neurons whose events are followed at a time, of m on n samples."""
        if self.rows is None:
            return rows_at_once(max(m // _PARTS, _FEWEST), n)
        return self.rows


class IntegratedStep(NamedTuple):
    """Result of the step before coupling and release.

    `end`, its `error` and `end_rates`, the field there, are those of the frozen
    pattern; neurons first.  `clearance` is that at the end, 0 where it is not known.
    """

    trajectory: Trajectory
    clearance: Float[Array, " m"] | None
    end: FlowVector
    error: FlowVector
    end_rates: FlowVector
    order: Float[Array, ""]
    evaluations: Int[Array, ""]
    stiffness: Stiffness | None


def integrate_step(
    neurons: NeuronState,
    sample: Sample,
    length: Float[Array, ""],
    options: Options,
    stiffness: Stiffness | None,
    is_noninteracting: Bool[Array, ""] | None,
) -> IntegratedStep:
    """By a frozen step and its events, or of every neuron by itself."""

    def together(context):
        (neurons, sample, length, rtol, stiffness), _ = context
        smooth = frozen_step(
            neurons, sample, length, options.solver, options.slope, stiffness
        )
        end, error, end_rates = map(neurons_first, smooth[:3])
        none = no_events(len(neurons.w), neurons.w.dtype)
        trajectory = whole_step(
            neurons, end, end_rates, none if options.records_events else None
        )
        pulls = sample.pulls(neurons.rates.residual), sample.pulls(end_rates.residual)
        step = StepData(sample, *pulls, length, options.slope, rtol)
        ahead = screen_events(trajectory, step, neurons.clearance)
        trajectory = replace(trajectory, is_pending=ahead.is_pending)
        trajectory = follow_events(
            trajectory, step, options.row_count(*neurons.is_above.shape)
        )
        clearance = ahead.clearance
        if clearance is not None:
            clearance = jnp.where(trajectory.event_count > 0, 0, clearance)
        return IntegratedStep(trajectory, clearance, end, error, end_rates, *smooth[3:])

    def noninteracting(context):
        (neurons, sample, length, rtol, stiffness), is_noninteracting = context
        rates = neurons.rates
        trajectory = whole_step(
            neurons, FlowVector(neurons.w, neurons.a, *rates[2:]), rates
        )
        pull = sample.pulls(rates.residual)
        step = StepData(sample, pull, pull, length, options.slope, rtol)
        trajectory, clearance = follow_noninteracting(
            trajectory, step, is_noninteracting, neurons.clearance
        )
        end = rates._replace(w=trajectory.end.w, a=trajectory.end.a)
        none = jax.tree.map(jnp.zeros_like, rates)
        order = jnp.asarray(error_order(options.solver), length.dtype)
        return IntegratedStep(
            trajectory, clearance, end, none, rates, order, jnp.int32(1), stiffness
        )

    here = neurons, sample, length, options.rtol, stiffness
    if is_noninteracting is None:
        return together((here, None))
    context = here, is_noninteracting
    return if_else(noninteracting, together)(is_noninteracting, context)


def whole_step(
    neurons: NeuronState,
    end: FlowVector,
    end_rates: FlowVector,
    events: Events | None = None,
) -> Trajectory:
    """A whole step for every neuron, before any event."""
    w0, w1 = neurons.w, end.w
    none = jnp.zeros(w0.shape[:1], w0.dtype)
    zero = jnp.zeros(w0.shape[:1], jnp.int32)
    return Trajectory(
        fraction=none,
        start=Point(w0, neurons.a, neurons.rates.w, neurons.rates.a),
        end=Point(w1, end.a, end_rates.w, end_rates.a),
        is_above=neurons.is_above,
        sliding=neurons.sliding,
        moment_start=neurons.rates.moment,
        moment_end=end_rates.moment,
        shift=none,
        remaining_shift=none,
        event_count=zero,
        crossings=zero,
        slides=zero,
        released=zero,
        nonunique_events=zero,
        has_no_slot=jnp.zeros(w0.shape[:1], bool),
        is_pending=jnp.zeros(w0.shape[:1], bool),
        events=events,
    )
