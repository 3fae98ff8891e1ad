"""Events of a deep network on record: entries, kinds and times."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import EventKind


class StepEvents(eqx.Module):
    """Events of one attempt.

    `crossed_at` is the fraction of the step at which an entry crossed along the way,
    infinite for the others.  `kind` is what the entries in slots did at its end, 0 for
    nothing.  An entry may do both.
    """

    crossed_at: Float[Array, "n u"]
    is_above: Bool[Array, "n u"]
    entry: Int[Array, " s"]
    kind: Int[Array, " s"]


def no_step_events(
    like: Bool[Array, "n u"], slots: int, dtype: jnp.dtype
) -> StepEvents:
    """Those of a step without events."""
    none = jnp.zeros(slots, jnp.int32)
    return StepEvents(jnp.full(like.shape, jnp.inf, dtype), like, none, none)


def kinds_between(
    before: Int[Array, " s"], after: Int[Array, " s"]
) -> Int[Array, " s"]:
    """What entries did by their states: 1 above, −1 below, 0 pinned."""
    crossed = jnp.where(after > 0, EventKind.CROSSES_UP, EventKind.CROSSES_DOWN)
    left = jnp.where(after > 0, EventKind.LEAVES_UP, EventKind.LEAVES_DOWN)
    changed = jnp.where(before == 0, left, crossed)
    kind = jnp.where(after == 0, EventKind.SLIDES, changed)
    return jnp.where(before == after, 0, kind).astype(jnp.int32)


class EventLog(eqx.Module):
    """The first events of a member, in the order of their times.

    Neurons are counted within their layer.  Events beyond the capacity are left out;
    `size` counts those that are in.
    """

    time: Float[Array, " q"]
    layer: Int[Array, " q"]
    neuron: Int[Array, " q"]
    sample: Int[Array, " q"]
    kind: Int[Array, " q"]
    size: Int[Array, ""]

    def extended(
        self,
        events: StepEvents,
        layer: Int[Array, " u"],
        begin: Float[Array, ""],
        end: Float[Array, ""],
        length: Float[Array, ""],
    ) -> tuple["EventLog", Int[Array, ""]]:
        """With the events of a step that begins and ends at these times; how many.

        Args:
            events: of the step.
            layer: of every unit, in ascending order.
            begin: time at its beginning.
            end: time at which it ended, the first decision or the whole step.
            length: of the whole step.
        """
        at = begin + length * events.crossed_at.reshape(-1).astype(begin.dtype)
        has_crossed = jnp.isfinite(at)
        # The end is corrected after the walk, and may come before the last crossing.
        at = jnp.where(has_crossed, jnp.minimum(at, end), jnp.inf)
        up = events.is_above.reshape(-1)
        crossed = jnp.where(up, EventKind.CROSSES_UP, EventKind.CROSSES_DOWN)
        size = at.shape[0]
        entry = jnp.concatenate([jnp.arange(size, dtype=jnp.int32), events.entry])
        is_one = jnp.concatenate([has_crossed, events.kind > 0])
        times = jnp.concatenate([at, jnp.full(events.kind.shape, end)])
        kind = jnp.concatenate([crossed.astype(jnp.int32), events.kind])
        order = jnp.argsort(jnp.where(is_one, times, jnp.inf), stable=True)
        count, room = jnp.sum(is_one, dtype=jnp.int32), self.time.shape[0]
        rank = jnp.arange(order.shape[0], dtype=jnp.int32)
        place = jnp.where(rank < count, self.size + rank, room)
        put = lambda old, new: old.at[place].set(
            new[order].astype(old.dtype), mode="drop"
        )
        unit = entry % layer.shape[0]
        first = jnp.searchsorted(layer, layer[unit]).astype(jnp.int32)
        log = EventLog(
            put(self.time, times),
            put(self.layer, layer[unit]),
            put(self.neuron, unit - first),
            put(self.sample, entry // layer.shape[0]),
            put(self.kind, kind),
            jnp.minimum(self.size + count, room),
        )
        return log, count


def empty_log(capacity: int, dtype: jnp.dtype) -> EventLog:
    """Room for so many events."""
    none = jnp.zeros(capacity, jnp.int32)
    return EventLog(jnp.zeros(capacity, dtype), none, none, none, none, jnp.int32(0))
