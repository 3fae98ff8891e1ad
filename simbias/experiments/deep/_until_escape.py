"""The exact flow up to the step at which the loss has fallen by some share."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractFlowWrapper, Dataset, FlowState, Loss, Status
from simbias.flows import DeepReluFlow


class UntilEscape(AbstractFlowWrapper):
    """`DeepReluFlow` until L ≤ (1 − fall) L(0), where a network ends as CONVERGED.

    Its `end_time` is then the time of escape from θ = 0, and its final network that of
    the escape.  Times on a grid would be too coarse: an escape by blow-up takes a time
    of order 1 at a time of order λ^(2−L).

    Weights grow by at most `growth` per step, so both are known to that share.

    Args:
        flow: the exact flow.
        fall: share of the loss at θ = 0 that the network must have fitted.
        growth: largest step, as a share of |θ|/|θ'|.
    """

    flow: DeepReluFlow = DeepReluFlow()
    fall: float = eqx.field(static=True, default=0.1)
    growth: float = eqx.field(static=True, default=0.05)

    @property
    def inner(self) -> DeepReluFlow:
        """The exact flow."""
        return self.flow

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt, and the end if it escapes."""
        weights = jax.tree.leaves(eqx.filter(state.network, eqx.is_inexact_array))
        size = jnp.sqrt(sum(jnp.sum(w**2) for w in weights))
        speed = jnp.linalg.norm(state.memory.field)
        moves = (speed > 0) & ~state.memory.is_new
        span = self.growth * size / jnp.where(moves, speed, 1)
        near = jnp.where(moves, jnp.minimum(until, state.time + span), until)
        state = self.inner.step(state, data, loss, near)
        out = jax.vmap(state.network)(data.x)
        start = loss(jnp.zeros_like(out), data.y, data.weight)
        has_escaped = loss(out, data.y, data.weight) <= (1 - self.fall) * start
        has_escaped &= state.status == Status.RUNNING
        status = jnp.where(has_escaped, jnp.int32(Status.CONVERGED), state.status)
        return eqx.tree_at(lambda s: s.status, state, status)
