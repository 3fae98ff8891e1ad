"""The end of an attempt of the exact flow of a deep network: an event, or the step."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep import tolerances
from simbias.flows._deep.decision import Decision, decide
from simbias.flows._deep.event_log import StepEvents
from simbias.flows._deep.event_times import first_release
from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.memory import DeepMemory
from simbias.flows._deep.sliding import Slots, back_to_pins, field, marked, scales
from simbias.flows._deep.walk import Walk, walk
from simbias.numerics.conditionals import once

# Without time between events, fields are compared this share of a step ahead, and ten
# times as far each time that this did not help.
_AHEAD = 1e-6
# An event after a smaller share of the step than this took no time.
_NO_TIME = 1e-11


class Arrival(NamedTuple):
    """Where an attempt ends, after how much of its step, and what was counted.

    `kink` is the error of what crossings do to the weights.  `is_alone` asks for
    another attempt that ends at its first crossing.  `events` is None unless events
    are recorded.
    """

    theta: Float[Array, " p"]
    fraction: Float[Array, ""]
    is_above: Bool[Array, "n u"]
    slots: Any
    field: Float[Array, " p"]
    z: Float[Array, "n u"]
    kink: Float[Array, " p"]
    is_alone: Bool[Array, ""]
    stuck: Int[Array, ""]
    evaluations: Int[Array, ""]
    crossings: Int[Array, ""]
    slides: Int[Array, ""]
    releases: Int[Array, ""]
    choices: Int[Array, ""]
    has_no_slot: Bool[Array, ""]
    events: StepEvents | None


def arrived_at(
    sample: GatedSample,
    theta: Float[Array, " p"],
    memory: DeepMemory,
    length: Float[Array, ""],
    path: Any,
    end: Float[Array, " p"],
    stay: Arrival,
    most: int,
) -> Arrival:
    """The end of the step, or the first event in it and what was decided there."""
    slots, is_new = memory.slots, memory.is_new
    may_cross = ~memory.is_alone & ~is_new
    walked = walk(
        sample,
        path,
        length,
        memory.is_above,
        slots,
        may_cross,
        records_events=stay.events is not None,
    )
    is_above, has_crossed = walked.is_above, walked.crossings > 0
    position = lambda at: path(at) + at * walked.gain - walked.lag
    release = first_release(
        sample, position, is_above, slots, walked.at, may_search=~has_crossed
    )
    is_stop = (walked.stop >= 0) & ~release.is_one & ~is_new
    is_event = is_new | is_stop | release.is_one
    fraction = jnp.minimum(walked.at, release.fraction)
    fraction = jnp.where(is_new, 0, fraction)
    there = jnp.where(is_event | has_crossed, position(fraction), end)
    there = jnp.where(is_new, theta, there)
    arrived = stay._replace(
        theta=there,
        fraction=fraction,
        is_above=is_above,
        evaluations=stay.evaluations + release.evaluations,
        crossings=walked.crossings,
        is_alone=release.is_one & has_crossed,
        events=_crossed(stay.events, walked),
    )
    change = lambda arrived: _second_order(
        sample, memory, length, path, walked, arrived
    )
    arrived = once(has_crossed, change, arrived)
    held = _with_entry(slots, jnp.where(is_stop, walked.stop, -1))
    there = back_to_pins(sample, arrived.theta, is_above, held)
    arrived = arrived._replace(kink=arrived.kink + jnp.abs(there - arrived.theta))
    is_stuck = is_event & ~is_new & (fraction < _NO_TIME)
    stuck = jnp.where(is_stuck, memory.stuck + 1, 0).astype(jnp.int32)
    power = _AHEAD * 10.0 ** (stuck - 1).astype(theta.dtype)
    ahead = jnp.where(is_stuck, length * power, 0) * memory.field
    arrived = arrived._replace(theta=there, stuck=stuck)

    def decided(arrived: Arrival) -> Arrival:
        pinned = marked(slots.entry, slots.is_used, is_above)
        scale = scales(sample, is_above, pinned)
        _, z = sample.outputs(there, scale)
        is_off = tolerances.on_wrong_side(sample, is_above, z) & ~pinned
        forced = is_off.reshape(-1).at[walked.stop].max(is_stop).reshape(is_off.shape)
        new: Decision = decide(sample, there, is_above, slots, forced & ~is_new, ahead)
        return arrived._replace(
            is_above=new.is_above,
            slots=new.slots,
            field=new.field,
            z=z,
            evaluations=arrived.evaluations + new.evaluations,
            crossings=arrived.crossings + new.crossings,
            slides=new.slides,
            releases=new.releases,
            choices=new.choices + (arrived.stuck > 0).astype(jnp.int32),
            has_no_slot=new.has_no_slot | (jnp.sum(new.slots.is_used) > most),
            events=_decided(arrived.events, new),
        )

    return once(is_event & ~arrived.is_alone, decided, arrived)


def _crossed(events: StepEvents | None, walked: Walk) -> StepEvents | None:
    """With the crossings of the walk, if events are recorded."""
    if events is None or walked.crossed_at is None:
        return None
    return StepEvents(walked.crossed_at, walked.is_above, events.entry, events.kind)


def _decided(events: StepEvents | None, new: Decision) -> StepEvents | None:
    """With what the entries that were 0 do, if events are recorded."""
    if events is None:
        return None
    return StepEvents(events.crossed_at, events.is_above, new.entry, new.kind)


def _second_order(
    sample: GatedSample,
    memory: DeepMemory,
    length: Float[Array, ""],
    path: Any,
    walked: Walk,
    arrived: Arrival,
) -> Arrival:
    """The arrival with the second order of what crossings do, and its error."""
    is_above, slots = walked.is_above, memory.slots
    mean, deviation = walked.rest()
    one = jnp.ones_like(walked.at)
    _, before = jax.jvp(path, (walked.at,), (one,))
    first, _ = field(sample, arrived.theta, is_above, slots)
    change = length * first - before - walked.gain
    theta = arrived.theta + mean / 2 * change
    second, z = field(sample, theta, is_above, slots)
    kink = deviation / 2 * jnp.abs(change)
    kink += mean / 3 * length * jnp.abs(second - first)
    # The walk found its time to first order: z is 0 a little before or after.
    late = _until_zero(sample, theta, second, z, is_above, slots, walked.stop) / length
    fraction = arrived.fraction + late
    is_far = (jnp.abs(late) > 0.1 * arrived.fraction) | (fraction > 1)
    late = jnp.where(is_far, 0, late)
    theta = theta + late * length * second
    pinned = marked(slots.entry, slots.is_used, is_above)
    _, z = sample.outputs(theta, scales(sample, is_above, pinned))
    is_off = tolerances.on_wrong_side(sample, is_above, z)
    is_off &= ~pinned & sample.is_real[:, None]
    # The entry at which a decision is due may be on either side.
    is_off = is_off.reshape(-1).at[walked.stop].min(walked.stop < 0)
    bend = length * jnp.abs(second - memory.field) / arrived.fraction
    return arrived._replace(
        theta=theta,
        fraction=arrived.fraction + late,
        field=second,
        z=z,
        kink=kink + late**2 * bend,
        is_alone=arrived.is_alone | jnp.any(is_off) | is_far,
        evaluations=arrived.evaluations + 2,
    )


def _until_zero(
    sample: GatedSample,
    theta: Float[Array, " p"],
    velocity: Float[Array, " p"],
    z: Float[Array, "n u"],
    is_above: Bool[Array, "n u"],
    slots: Slots,
    entry: Int[Array, ""],
) -> Float[Array, ""]:
    """Time until z of an entry is 0, to first order; 0 if it is −1 or z rests."""
    units = z.shape[1]
    i, u = jnp.maximum(entry, 0) // units, jnp.maximum(entry, 0) % units
    scale = scales(sample, is_above, marked(slots.entry, slots.is_used, is_above))[i]
    own = lambda theta: sample.one(theta, sample.x[i], scale, 0 * scale)[1][u]
    _, speed = jax.jvp(own, (theta,), (velocity,))
    moves = (entry >= 0) & (speed != 0)
    return jnp.where(moves, -z[i, u] / jnp.where(moves, speed, 1), 0)


def _with_entry(slots: Slots, entry: Int[Array, ""]) -> Slots:
    """The slots with one entry more, if it is not −1."""
    place = jnp.sum(slots.is_used)
    return slots._replace(entry=slots.entry.at[place].set(entry, mode="drop"))
