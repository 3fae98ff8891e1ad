"""The exact flow and steps of descent, with the length of the path as the clock."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import (
    AbstractFlow,
    AbstractFlowWrapper,
    Dataset,
    FlowState,
    Loss,
    Status,
)
from simbias.errors import BadInput
from simbias.flows import DeepReluFlow, Descent
from simbias.flows._descent.normalised import normalised

# A step goes this much beyond the length at which a record is due.
_BEYOND = 1e-3


class _OfInner(NamedTuple):
    """The time and the memory of the other flow."""

    time: Float[Array, ""]
    memory: Any


class ByLength(AbstractFlowWrapper):
    """A flow whose clock is the length of its path, Σ ‖Δθ‖ over its steps.

    A network that waits at a saddle for a time of 1000 moves by less than 1 there.  So
    networks which leave it at different times are compared at equal lengths.

    A step that reaches a record goes about 0.001 beyond it.  A network whose own time
    reaches `horizon` ends as CONVERGED: it has come to rest before the length was
    reached.

    Args:
        flow: the exact flow.
        longest: largest length of a step.
        horizon: time of the flow at which a network ends.
    """

    flow: AbstractFlow = DeepReluFlow(rtol=1e-5, max_steps=20_000)
    longest: float = eqx.field(static=True, default=0.05)
    horizon: float = eqx.field(static=True, default=1e6)

    @property
    def inner(self) -> AbstractFlow:
        """The flow by its own time."""
        return self.flow

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at length 0."""
        state = self.inner.init(network, data, loss, key)
        return self._by_length(state, jnp.zeros_like(state.time))

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt of the flow, to about the length `until` at most."""
        own = self._own(state)
        speed = jnp.linalg.norm(own.memory.field).astype(own.time.dtype)
        moves = (speed > 0) & ~own.memory.is_new
        left = jnp.minimum(until - state.time + _BEYOND, self.longest)
        span = jnp.where(moves, left / jnp.where(moves, speed, 1), self.horizon)
        near = jnp.minimum(own.time + span, self.horizon)
        after = self.inner.step(own, data, loss, near)
        moved = jnp.sqrt(_square(state.network, after.network))
        is_over = (after.time >= self.horizon) & (after.status == Status.RUNNING)
        status = jnp.where(is_over, jnp.int32(Status.CONVERGED), after.status)
        after = eqx.tree_at(lambda s: s.status, after, status)
        return self._by_length(after, state.time + moved.astype(state.time.dtype))

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """Events of the flow, with its own times."""
        return self.inner.history(self._own(state))

    def _own(self, state: FlowState) -> FlowState:
        time, memory = state.memory
        return FlowState(state.network, time, state.status, state.stats, memory)

    def _by_length(self, state: FlowState, length: Float[Array, ""]) -> FlowState:
        memory = _OfInner(state.time, state.memory)
        return FlowState(state.network, length, state.status, state.stats, memory)


def _square(before: Any, after: Any) -> Float[Array, ""]:
    """‖θ − θ'‖² over all arrays of two networks."""
    arrays = lambda net: jax.tree.leaves(eqx.filter(net, eqx.is_inexact_array))
    pairs = zip(arrays(before), arrays(after), strict=True)
    return sum((jnp.sum((a - b) ** 2) for a, b in pairs), jnp.zeros(()))


EXACT = "exact"


class FlowOrSteps(AbstractFlowWrapper):
    """The exact flow, or steps of one length along the gradient.

    The clock of both is the length of the path.

    Args:
        rate: "exact" for the flow, or the length of a step, such as "0.025".
    """

    rate: str = eqx.field(static=True, default=EXACT)

    def __check_init__(self):
        if self.rate != EXACT and not _length(self.rate) > 0:
            raise BadInput(
                f'`rate` must be "{EXACT}" or the length of a step as text, got '
                f'{self.rate!r}. Example: rate="0.025".'
            )

    @property
    def inner(self) -> AbstractFlow:
        """The flow that is chosen."""
        if self.rate == EXACT:
            return ByLength()
        return Descent(optimiser=normalised, rate=_length(self.rate))


def _length(rate: str) -> float:
    """The number of a text, NaN if it is none."""
    try:
        return float(rate)
    except ValueError:
        return math.nan
