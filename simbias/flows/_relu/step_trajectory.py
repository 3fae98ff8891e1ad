"""What every neuron carries through the events of a step."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.events import Events
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.single_neuron import Point


class Sliding(eqx.Module):
    """Hyperplanes that neurons slide on, in p slots per neuron.

    `plane` is −1 in an empty slot.  A neuron counts as below the planes it slides on.
    `speed_below` and `speed_above` come from `normal_speeds`.  `excursion` is how far,
    in w·u, the neuron would have gone by now without sliding on this plane: it is
    released when that exceeds the tolerance.
    """

    plane: Int[Array, "c p"]
    dual: Float[Array, "c p e"]
    speed_below: Float[Array, "c p"]
    speed_above: Float[Array, "c p"]
    excursion: Float[Array, "c p"]


def no_sliding(w: Float[Array, "c e"], capacity: int) -> Sliding:
    """Empty slots."""
    c, e = w.shape
    empty = jnp.zeros((c, capacity), w.dtype)
    return Sliding(
        plane=jnp.full((c, capacity), -1, jnp.int32),
        dual=jnp.zeros((c, capacity, e), w.dtype),
        speed_below=empty,
        speed_above=empty,
        excursion=empty,
    )


class Trajectory(eqx.Module):
    """The rest of a step for every neuron, from its last event to the end.

    It starts after the `fraction` of the step.  `moment_start` and `moment_end` are the
    moments M at the two ends of the whole step, under the present sides and the
    residuals of the frozen pattern.  `shift` sums how far the events moved w;
    `remaining_shift` sums the same times the fraction of the step that remained.
    `event_count` counts all events, also those that change nothing.  `events` is None
    unless they are recorded.
    """

    fraction: Float[Array, " c"]
    start: Point
    end: Point
    is_above: Bool[Array, "c n"]
    sliding: Sliding
    moment_start: Float[Array, "c k e"]
    moment_end: Float[Array, "c k e"]
    shift: Float[Array, " c"]
    remaining_shift: Float[Array, " c"]
    event_count: Int[Array, " c"]
    crossings: Int[Array, " c"]
    slides: Int[Array, " c"]
    released: Int[Array, " c"]
    nonunique_events: Int[Array, " c"]
    has_no_slot: Bool[Array, " c"]
    is_pending: Bool[Array, " c"]
    events: Events | None


class StepData(NamedTuple):
    """What all neurons share during a step.

    `pull_start` and `pull_end` are the pulls of all planes at its two ends, see
    `Sample.pulls`; `rtol` is the tolerance.
    """

    sample: Sample
    pull_start: Float[Array, "n k"]
    pull_end: Float[Array, "n k"]
    length: Float[Array, ""]
    slope: float
    rtol: Float[Array, ""]


def control_points(
    trajectory: Trajectory, length: Float[Array, ""]
) -> tuple[Float[Array, "c e"], ...]:
    """Those of a trajectory that is the whole step; it stays within their hull."""
    start, end, third = trajectory.start, trajectory.end, length / 3
    return start.w, start.w + third * start.dw, end.w - third * end.dw, end.w
