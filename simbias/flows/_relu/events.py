"""What neurons meet, written down as it happens."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import EventKind

# Events of one neuron in one step, after which it waits for the next step.
MAX_EVENTS = 64


class Events(eqx.Module):
    """Those of a step, q places for every neuron, the earliest first.

    `time` is a fraction of the step.  `count` is of all, those without a place too.
    """

    time: Float[Array, "c q"]
    plane: Int[Array, "c q"]
    kind: Int[Array, "c q"]
    count: Int[Array, " c"]

    def noted(
        self,
        time: Float[Array, " c"],
        plane: Int[Array, "c s"],
        kind: Int[Array, "c s"],
    ) -> "Events":
        """With up to s more for every neuron; where `kind` is 0 there is none."""
        is_one = kind > 0
        c, q = self.time.shape
        place = self.count[:, None] + jnp.cumsum(is_one, axis=1, dtype=jnp.int32) - 1
        at = (_upto(c)[:, None], jnp.where(is_one, place, q))
        put = lambda old, new: old.at[at].set(new.astype(old.dtype), mode="drop")
        every = jnp.broadcast_to(time[:, None], kind.shape)
        more = jnp.sum(is_one, axis=1).astype(self.count.dtype)
        return Events(
            put(self.time, every),
            put(self.plane, plane),
            put(self.kind, kind),
            self.count + more,
        )


def no_events(c: int, dtype: jnp.dtype) -> Events:
    """Empty places."""
    empty = jnp.zeros((c, MAX_EVENTS), jnp.int32)
    none = jnp.zeros(c, jnp.int32)
    return Events(jnp.zeros((c, MAX_EVENTS), dtype), empty, empty, none)


def kinds_at(
    is_above: Bool[Array, "c s"], starts_sliding: Bool[Array, "c s"]
) -> Int[Array, "c s"]:
    """What a neuron that was free did, by where it is afterwards."""
    crossed = jnp.where(is_above, EventKind.CROSSES_UP, EventKind.CROSSES_DOWN)
    return jnp.where(starts_sliding, EventKind.SLIDES, crossed).astype(jnp.int32)


def kinds_of_leaving(
    is_above: Bool[Array, "c s"], leaves: Bool[Array, "c s"]
) -> Int[Array, "c s"]:
    """To which side a neuron left a plane that it slid on."""
    kind = jnp.where(is_above, EventKind.LEAVES_UP, EventKind.LEAVES_DOWN)
    return jnp.where(leaves, kind, 0).astype(jnp.int32)


class Log(eqx.Module):
    """The events of a member, in the order of their steps and times.

    Events beyond the capacity are left out; `size` counts those that are in.
    """

    time: Float[Array, " q"]
    neuron: Int[Array, " q"]
    plane: Int[Array, " q"]
    kind: Int[Array, " q"]
    size: Int[Array, ""]

    def extended(
        self, events: Events, begin: Float[Array, ""], length: Float[Array, ""]
    ) -> "Log":
        """With the events of a step that begins at `begin`."""
        c, q = events.time.shape
        is_one = (_upto(q)[None, :] < events.count[:, None]).ravel()
        time = jnp.where(is_one, events.time.ravel(), jnp.inf)
        order = jnp.argsort(time)
        room, sees = self.time.shape[0], is_one[order]
        place = jnp.where(sees, self.size + _upto(c * q), room)
        put = lambda old, new: old.at[place].set(
            new[order].astype(old.dtype), mode="drop"
        )
        neuron = jnp.broadcast_to(_upto(c)[:, None], (c, q)).ravel()
        more = jnp.sum(is_one).astype(self.size.dtype)
        return Log(
            put(self.time, begin + length * events.time.ravel().astype(begin.dtype)),
            put(self.neuron, neuron),
            put(self.plane, events.plane.ravel()),
            put(self.kind, events.kind.ravel()),
            jnp.minimum(self.size + more, room).astype(self.size.dtype),
        )


def no_log(capacity: int, dtype: jnp.dtype) -> Log:
    """Room for so many events."""
    none = jnp.zeros(capacity, jnp.int32)
    return Log(jnp.zeros(capacity, dtype), none, none, none, jnp.int32(0))


def _upto(n: int) -> Int[Array, " n"]:
    return jnp.arange(n, dtype=jnp.int32)
