"""The exact flow on the clock of the length of its path."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status
from simbias.flows import DeepReluFlow


class PathMemory(NamedTuple):
    """What the exact flow remembers, its own time, and the length of the path."""

    flow: PyTree
    time: Float[Array, ""]
    length: Float[Array, ""]


class AlongPath(AbstractFlow):
    """`DeepReluFlow`, with the length of the path of the weights for time.

    Under ln L, weights of more than two matrices are infinite after a finite time, so
    times are no clock.  Steps have at most `growth` times |θ|, and lengths are those of
    their chords.  A record may be late by a part of a step, which the next one allows
    for.  A network that has stopped ends as STATIONARY.

    Args:
        rate: 0, that of descent whose limit this is, as a value of its axis.
        flow: the exact flow.
        growth: length of the longest step over |θ|.
    """

    rate: Real = 0.0
    flow: DeepReluFlow = DeepReluFlow(rtol=1e-5)
    growth: float = eqx.field(static=True, default=0.02)

    @property
    def clock(self) -> str:
        """What times are counted in."""
        return "length of the path"

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at length 0."""
        state = self.flow.init(network, data, loss, key)
        zero = jnp.zeros_like(state.time)
        memory = PathMemory(state.memory, state.time, zero)
        return FlowState(state.network, zero, state.status, state.stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt."""
        memory: PathMemory = state.memory
        before = FlowState(
            state.network, memory.time, state.status, state.stats, memory.flow
        )
        speed = jnp.linalg.norm(memory.flow.field)
        is_new = memory.flow.is_new
        most = self.growth * _size(state.network)
        span = jnp.minimum(most, jnp.maximum(until - memory.length, 1e-6 * most))
        moves = (speed > 0) & ~is_new
        near = memory.time + jnp.where(moves, span / jnp.where(moves, speed, 1), 1)
        after = self.flow.step(before, data, loss, near)
        length = memory.length + _size(_difference(after.network, state.network))
        rests = (speed == 0) & ~is_new & (after.status == Status.RUNNING)
        status = jnp.where(rests, jnp.int32(Status.STATIONARY), after.status)
        is_there = length > until - 1e-4 * most
        time = jnp.where(is_there, until, jnp.maximum(length, state.time))
        return FlowState(
            after.network,
            jnp.where(state.status == Status.RUNNING, time, state.time),
            status,
            after.stats,
            PathMemory(after.memory, after.time, length),
        )

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """That of the exact flow."""
        return self.flow.attempt_size(network, n, width, tile)


def _weights(network: Any) -> list[Array]:
    return jax.tree.leaves(eqx.filter(network, eqx.is_inexact_array))


def _size(network: Any) -> Float[Array, ""]:
    return jnp.sqrt(sum(jnp.sum(w**2) for w in _weights(network)))


def _difference(one: Any, two: Any) -> list[Array]:
    return [a - b for a, b in zip(_weights(one), _weights(two), strict=True)]
