"""Every neuron at the end of a step, under residuals that no event has moved."""

from dataclasses import replace
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.by_class import frozen_step
from simbias.flows._relu.clearance import prospect
from simbias.flows._relu.crossings import follow_events
from simbias.flows._relu.events import Events, no_events
from simbias.flows._relu.frozen import Rates, Sample, neurons_first
from simbias.flows._relu.masked_rows import rows_at_once
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.noninteracting import follow_noninteracting
from simbias.flows._relu.single_neuron import Point
from simbias.flows._relu.smooth_step import Stiffness
from simbias.flows._relu.step_trajectory import Step, Trajectory
from simbias.flows._shared.solvers import error_order
from simbias.numerics.conditionals import when

# Events of a share of the neurons are followed at a time, or of so many.
_PARTS, _FEWEST = 16, 16


class Options(NamedTuple):
    """What the user chose, and the activation; `rows` None is as many as are fast.

    `rtol` may differ from member to member.
    """

    solver: diffrax.AbstractERK
    rtol: Float[Array, ""]
    slope: float
    rows: int | None
    max_steps: int
    has_events: bool

    def rows_of(self, m: int, n: int) -> int:
        """Neurons whose events are followed at a time, of m on n samples."""
        if self.rows is None:
            return rows_at_once(max(m // _PARTS, _FEWEST), n)
        return self.rows


class IntegratedStep(NamedTuple):
    """Where that is, and how it was come to.

    `end` and `late` are those with the old pattern; neurons first.  `clear` is the
    clearance at the end, 0 where it is not known.
    """

    trajectory: Trajectory
    clear: Float[Array, " m"] | None
    end: Rates
    error: Rates
    late: Rates
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

    def together(here, _):
        neurons, sample, length, rtol, stiffness = here
        smooth = frozen_step(
            neurons, sample, length, options.solver, options.slope, stiffness
        )
        end, error, late = map(neurons_first, smooth[:3])
        none = no_events(len(neurons.w), neurons.w.dtype)
        trajectory = whole_step(
            neurons, end, late, none if options.has_events else None
        )
        pulls = sample.pulls(neurons.rates.residual), sample.pulls(late.residual)
        step = Step(sample, *pulls, length, options.slope, rtol)
        ahead = prospect(trajectory, step, neurons.clear)
        trajectory = replace(trajectory, is_pending=ahead.is_pending)
        trajectory = follow_events(
            trajectory, step, options.rows_of(*neurons.is_above.shape)
        )
        clear = ahead.clear
        if clear is not None:
            clear = jnp.where(trajectory.event_count > 0, 0, clear)
        return IntegratedStep(trajectory, clear, end, error, late, *smooth[3:])

    def noninteracting(context, _):
        (neurons, sample, length, rtol, stiffness), is_noninteracting = context
        rates = neurons.rates
        trajectory = whole_step(neurons, Rates(neurons.w, neurons.a, *rates[2:]), rates)
        pull = sample.pulls(rates.residual)
        step = Step(sample, pull, pull, length, options.slope, rtol)
        trajectory, clear = follow_noninteracting(
            trajectory, step, is_noninteracting, neurons.clear
        )
        end = rates._replace(w=trajectory.end.w, a=trajectory.end.a)
        none = jax.tree.map(jnp.zeros_like, rates)
        order = jnp.asarray(error_order(options.solver), length.dtype)
        return IntegratedStep(
            trajectory, clear, end, none, rates, order, jnp.int32(1), stiffness
        )

    here = neurons, sample, length, options.rtol, stiffness
    if is_noninteracting is None:
        return together(here, None)
    shapes = jax.eval_shape(together, here, None)
    integrated = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shapes)
    integrated = when(together)(~is_noninteracting, here, integrated)
    return when(noninteracting)(
        is_noninteracting, (here, is_noninteracting), integrated
    )


def whole_step(
    neurons: NeuronState,
    end: Rates,
    late: Rates,
    events: Events | None = None,
) -> Trajectory:
    """A whole step for every neuron, before any event."""
    w0, w1 = neurons.w, end.w
    none = jnp.zeros(w0.shape[:1], w0.dtype)
    zero = jnp.zeros(w0.shape[:1], jnp.int32)
    return Trajectory(
        begin=none,
        start=Point(w0, neurons.a, neurons.rates.w, neurons.rates.a),
        end=Point(w1, end.a, late.w, late.a),
        is_above=neurons.is_above,
        sliding=neurons.sliding,
        early=neurons.rates.moment,
        late=late.moment,
        shift=none,
        lag=none,
        event_count=zero,
        crossings=zero,
        slides=zero,
        released=zero,
        is_full=jnp.zeros(w0.shape[:1], bool),
        is_pending=jnp.zeros(w0.shape[:1], bool),
        events=events,
    )
