"""Every neuron at the end of a step, under residuals that no event has moved."""

from typing import NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.by_class import frozen_step
from simbias.flows._relu.clearance import prospect
from simbias.flows._relu.course import Course, Step
from simbias.flows._relu.crossings import follow_events
from simbias.flows._relu.decoupled import follow_alone
from simbias.flows._relu.events import Events, no_events
from simbias.flows._relu.frozen import Rates, Sample, neurons_first
from simbias.flows._relu.position import Position
from simbias.flows._relu.single_neuron import Point
from simbias.flows._relu.smooth_step import Stiffness
from simbias.flows._shared.solvers import error_order
from simbias.numerics.conditionals import when


class Method(NamedTuple):
    """What the user chose."""

    solver: diffrax.AbstractERK
    rtol: Float[Array, ""]
    slope: float
    rows: int
    has_events: bool


class Leg(NamedTuple):
    """Where that is, and how it was come to.

    `end` and `late` are those with the old pattern; neurons first.  `clear` is the
    clearance at the end, 0 where it is not known.
    """

    course: Course
    clear: Float[Array, " m"] | None
    end: Rates
    error: Rates
    late: Rates
    order: Float[Array, ""]
    evaluations: Int[Array, ""]
    stiffness: Stiffness | None


def first_leg(
    position: Position,
    sample: Sample,
    length: Float[Array, ""],
    method: Method,
    stiffness: Stiffness | None,
    is_alone: Bool[Array, ""] | None,
) -> Leg:
    """By a frozen step and its events, or of every neuron by itself."""

    def together(here, _):
        position, sample, length, rtol, stiffness = here
        smooth = frozen_step(
            position, sample, length, method.solver, method.slope, stiffness
        )
        end, error, late = map(neurons_first, smooth[:3])
        none = no_events(len(position.w), position.w.dtype)
        course = whole_step(position, end, late, none if method.has_events else None)
        pulls = sample.pulls(position.rates.residual), sample.pulls(late.residual)
        step = Step(sample, *pulls, length, method.slope, rtol)
        ahead = prospect(course, step, position.clear)
        course = eqx.tree_at(lambda c: c.is_pending, course, ahead.is_pending)
        course = follow_events(course, step, method.rows)
        clear = ahead.clear
        if clear is not None:
            clear = jnp.where(course.meetings > 0, 0, clear)
        return Leg(course, clear, end, error, late, *smooth[3:])

    def alone(context, _):
        (position, sample, length, rtol, stiffness), is_alone = context
        rates = position.rates
        course = whole_step(position, Rates(position.w, position.a, *rates[2:]), rates)
        pull = sample.pulls(rates.residual)
        step = Step(sample, pull, pull, length, method.slope, rtol)
        course, clear = follow_alone(course, step, is_alone, position.clear)
        end = rates._replace(w=course.end.w, a=course.end.a)
        none = jax.tree.map(jnp.zeros_like, rates)
        order = jnp.asarray(error_order(method.solver), length.dtype)
        return Leg(course, clear, end, none, rates, order, jnp.int32(1), stiffness)

    here = position, sample, length, method.rtol, stiffness
    if is_alone is None:
        return together(here, None)
    shapes = jax.eval_shape(together, here, None)
    leg = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shapes)
    leg = when(together)(~is_alone, here, leg)
    return when(alone)(is_alone, (here, is_alone), leg)


def whole_step(
    position: Position,
    end: Rates,
    late: Rates,
    events: Events | None = None,
) -> Course:
    """A whole step for every neuron, before any event."""
    w0, w1 = position.w, end.w
    none = jnp.zeros(w0.shape[:1], w0.dtype)
    zero = jnp.zeros(w0.shape[:1], jnp.int32)
    return Course(
        begin=none,
        start=Point(w0, position.a, position.rates.w, position.rates.a),
        end=Point(w1, end.a, late.w, late.a),
        is_above=position.is_above,
        pins=position.pins,
        early=position.rates.moment,
        late=late.moment,
        shift=none,
        lag=none,
        meetings=zero,
        crossings=zero,
        pinned=zero,
        released=zero,
        is_full=jnp.zeros(w0.shape[:1], bool),
        is_pending=jnp.zeros(w0.shape[:1], bool),
        events=events,
    )
