"""The flow up to the step at which the loss has fallen by some share."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import (
    AbstractFlow,
    AbstractFlowWrapper,
    Dataset,
    FlowState,
    Loss,
    Status,
)
from simbias.flows import DeepReluFlow


class UntilEscape(AbstractFlowWrapper):
    """A flow until L ≤ (1 − fall) L(0), where a network ends as CONVERGED.

    Its `end_time` is then the time of escape from θ = 0, and its final network that of
    the escape.  Times on a grid would be too coarse: an escape by blow-up takes a time
    of order 1 at a time of order λ^(2−L).

    Weights grow by at most `growth` per step, so both are known to that share.

    Args:
        flow: the flow; `growth` of all weights together needs the exact one.
        fall: share of the loss at θ = 0 that the network must have fitted.
        growth: largest step, as a share of |θ|/|θ'|.
        of_each: whether no matrix W may move by more than `growth` |W|, instead of all
            weights together: for matrices of different sizes.
    """

    flow: AbstractFlow = DeepReluFlow()
    fall: float = eqx.field(static=True, default=0.1)
    growth: float = eqx.field(static=True, default=0.05)
    of_each: bool = eqx.field(static=True, default=False)

    @property
    def inner(self) -> AbstractFlow:
        """The flow."""
        return self.flow

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt, and the end if it escapes."""
        limit = self._of_each if self.of_each else self._of_all
        near = limit(state, data, loss, until)
        state = self.inner.step(state, data, loss, near)
        out = jax.vmap(state.network)(data.x)
        start = loss(jnp.zeros_like(out), data.y, data.weight)
        has_escaped = loss(out, data.y, data.weight) <= (1 - self.fall) * start
        has_escaped &= state.status == Status.RUNNING
        status = jnp.where(has_escaped, jnp.int32(Status.CONVERGED), state.status)
        return eqx.tree_at(lambda s: s.status, state, status)

    def _of_all(
        self,
        state: FlowState,
        data: Dataset,  # noqa: ARG002
        loss: Loss,  # noqa: ARG002
        until: Float[Array, ""],
    ) -> Float[Array, ""]:
        """Until the weights together have moved by `growth`, with the flow's field."""
        weights = jax.tree.leaves(eqx.filter(state.network, eqx.is_inexact_array))
        size = jnp.sqrt(sum(jnp.sum(w**2) for w in weights))
        speed = jnp.linalg.norm(state.memory.field)
        moves = (speed > 0) & ~state.memory.is_new
        span = self.growth * size / jnp.where(moves, speed, 1)
        return jnp.where(moves, jnp.minimum(until, state.time + span), until)

    def _of_each(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Until one matrix has moved by `growth`, with a gradient of the loss."""

        def value(weights: tuple[Array, ...]) -> Float[Array, ""]:
            network = eqx.tree_at(lambda net: net.weights, state.network, weights)
            return loss(jax.vmap(network)(data.x), data.y, data.weight)

        weights = state.network.weights
        norm = lambda several: jnp.stack([jnp.linalg.norm(w) for w in several])
        speed, size = norm(jax.grad(value)(weights)), norm(weights)
        span = jnp.min(
            jnp.where(speed > 0, size / jnp.where(speed > 0, speed, 1), jnp.inf)
        )
        return jnp.minimum(until, state.time + self.growth * span)
