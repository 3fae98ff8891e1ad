"""The exact flow from weights of scale λ, and its limit λ → 0, along one axis."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import (
    AbstractFlow,
    AbstractFlowWrapper,
    Dataset,
    FlowState,
    Loss,
    Real,
    Status,
)
from simbias.flows import ReluFlow, VanishingStart
from simbias.networks import TwoLayer

# A neuron is large above this share of √(Σ|y|/Σ|x|).
_LARGE = 1e-2


class _Memory(eqx.Module):
    inner: FlowState
    left: Float[Array, " m"]


class FromScale(AbstractFlowWrapper):
    """`ReluFlow` from λ times the initial weights; `VanishingStart` for λ = 0.

    Time is s = t / ln(1/λ), the clock of the limit.  The result has `left_time`, the
    time at which each neuron first became large, NaN if it never did.  In the limit a
    neuron becomes large when it leaves a saddle; in the flow, when √(|a||w|) exceeds a
    hundredth of √(Σ|y|/Σ|x|).

    Args:
        scale: λ, below 1, as a text: zero and the others have programs of their own.
        rtol: relative tolerance.
        max_steps: a member that needs more attempts ends as MAX_STEPS.
        size: λ; filled in by `prepared`.
        flow: filled in by `prepared`.
    """

    scale: str = eqx.field(static=True, default="0")
    rtol: Real = 1e-6
    max_steps: int = eqx.field(static=True, default=20_000)
    size: Real = 0.0
    flow: AbstractFlow | None = None

    def prepared(self) -> "FromScale":
        """The flow itself: all λ > 0 share a program."""
        size, flow = float(self.scale), self.inner
        return dataclasses.replace(self, scale="", size=size, flow=flow)

    @property
    def clock(self) -> str:
        """Unit of time."""
        return "t / ln(1/λ)"

    @property
    def inner(self) -> AbstractFlow:
        """The limit, or the exact flow."""
        if self.flow is not None:
            return self.flow
        if float(self.scale) == 0:
            return VanishingStart(rtol=self.rtol, max_steps=self.max_steps)
        return ReluFlow(rtol=self.rtol, max_steps=self.max_steps, decouple=True)

    def init(
        self, network: TwoLayer, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at s = 0."""
        if not self._is_limit:
            w, a = self.size * network.w, self.size * network.a
            network = dataclasses.replace(network, w=w, a=a)
        inner = self.inner.init(network, data, loss, key)
        return _seen(inner, inner.time, jnp.full(len(network.w), jnp.nan))

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempted step of the exact flow, or of its limit."""
        unit = jnp.ones((), until.dtype)
        if not self._is_limit:
            unit = jnp.asarray(-jnp.log(self.size), until.dtype)
        goal = until * unit
        inner = self.inner.step(state.memory.inner, data, loss, goal)
        now = jnp.where(inner.time >= goal, until, inner.time / unit)
        now = jnp.where(state.status == Status.RUNNING, now, state.time)
        if self._is_limit:
            is_large = inner.memory.is_large
        else:
            is_large = _sizes(inner.network) > _LARGE * _unit_of_weight(data)
        is_new = jnp.isnan(state.memory.left) & is_large
        return _seen(inner, now, jnp.where(is_new, now, state.memory.left))

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """When each neuron first became large."""
        return {"left_time": state.memory.left}

    def step_equations(self, state: FlowState) -> int | None:
        """Those of the flow inside."""
        return self.inner.step_equations(state.memory.inner)

    @property
    def _is_limit(self) -> bool:
        return isinstance(self.inner, VanishingStart)


def _seen(
    inner: FlowState, time: Float[Array, ""], left: Float[Array, " m"]
) -> FlowState:
    stats = {k: v for k, v in inner.stats.items() if k != "jumps"}
    return FlowState(inner.network, time, inner.status, stats, _Memory(inner, left))


def _sizes(network: TwoLayer) -> Float[Array, " m"]:
    return jnp.sqrt(jnp.abs(network.a[:, 0]) * jnp.linalg.norm(network.w, axis=1))


def _unit_of_weight(data: Dataset) -> Float[Array, ""]:
    x, y = jnp.linalg.norm(data.x, axis=1), jnp.abs(data.y[:, 0])
    return jnp.sqrt(data.weight @ y / (data.weight @ x))
