"""Gradient descent and its relatives, through optax."""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.checks import positive_integer
from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status

Optimiser = Literal["gd", "momentum", "adam", "adamw"]


class Descent(AbstractFlow):
    """θ ← θ − rate · (direction of the optimiser); its clock is steps × rate.

    "gd" is Euler's method for the gradient flow with step `rate`, so its time is that
    of the flow.  For momentum, Adam and AdamW the same clock counts rate, not distance.
    With `batch` the gradient is that of `batch` random samples, drawn anew in every
    step without replacement; None is the full sample.  A record at time t is of the
    first step with steps × rate ≥ t.

    Args:
        rate: learning rate; may differ per member.
        optimiser: "gd", "momentum", "adam" or "adamw".
        batch: size of a mini-batch, None for the full sample.
        decay: of the momentum; (β₁ of Adam is optax's default).
        weight_decay: of AdamW.
        max_steps: a member that needs more ends as MAX_STEPS.
    """

    rate: Real = 0.1
    optimiser: Optimiser = eqx.field(static=True, default="gd")
    batch: int | None = eqx.field(static=True, default=None)
    decay: float = eqx.field(static=True, default=0.9)
    weight_decay: float = eqx.field(static=True, default=1e-2)
    max_steps: int = eqx.field(static=True, default=1_000_000_000)

    def __check_init__(self):
        if isinstance(self.rate, float) and not 0 < self.rate < float("inf"):
            raise ValueError(
                f"`rate` must be finite and positive, got {self.rate}. "
                "Example: rate=0.1."
            )
        if self.batch is not None:
            positive_integer("batch", self.batch)
        positive_integer("max_steps", self.max_steps)

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0."""
        if self.batch is not None and self.batch > data.x.shape[0]:
            raise ValueError(
                f"`batch` must be at most the {data.x.shape[0]} samples, "
                f"got {self.batch}."
            )
        weights, _ = eqx.partition(network, eqx.is_inexact_array)
        zero = jnp.int32(0)
        stats = {"accepted": zero, "rejected": zero, "evaluations": zero}
        memory = self._transform(jnp.float64).init(weights), key
        return FlowState(network, jnp.float64(0), zero, stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One step, if the time is before `until`; the last finite network is kept."""
        weights, rest = eqx.partition(state.network, eqx.is_inexact_array)
        optimiser_state, key = state.memory
        count = state.stats["accepted"]

        def objective(weights):
            network = eqx.combine(weights, rest)
            x, y, weight = self._samples(data, jax.random.fold_in(key, count))
            return loss(jax.vmap(network)(x), y, weight)

        gradient = jax.grad(objective)(weights)
        dtype = jnp.result_type(*jax.tree.leaves(weights))
        transform = self._transform(dtype)
        updates, moved = transform.update(gradient, optimiser_state, weights)
        new = optax.apply_updates(weights, updates)
        is_running = (state.status == Status.RUNNING) & (state.time < until)
        is_finite = jnp.array(True)
        for leaf in jax.tree.leaves(new):
            is_finite &= jnp.all(jnp.isfinite(leaf))
        is_spent = count >= self.max_steps
        goes = is_running & is_finite & ~is_spent
        choose = lambda a, b: jnp.where(goes, a, b)
        weights = jax.tree.map(choose, new, weights)
        optimiser_state = jax.tree.map(choose, moved, optimiser_state)
        status = jnp.where(
            is_running & is_spent, jnp.int32(Status.MAX_STEPS), state.status
        )
        status = jnp.where(
            is_running & ~is_finite, jnp.int32(Status.NONFINITE), status
        )
        count = count + goes.astype(jnp.int32)
        stats = {**state.stats, "accepted": count, "evaluations": count}
        # The product, not a sum: a million additions of 0.1 are not 100,000.
        time = jnp.where(goes, count * jnp.asarray(self.rate, jnp.float64), state.time)
        memory = optimiser_state, key
        return FlowState(eqx.combine(weights, rest), time, status, stats, memory)

    def _samples(self, data: Dataset, key: PRNGKeyArray):
        if self.batch is None:
            return data.x, data.y, data.weight
        # The largest of random numbers, padding never among them.
        draw = jax.random.uniform(key, data.weight.shape, jnp.float32)
        draw = jnp.where(data.weight > 0, draw, -1.0)
        _, rows = jax.lax.top_k(draw, self.batch)
        return data.x[rows], data.y[rows], data.weight[rows]

    def _transform(self, dtype: Any) -> optax.GradientTransformation:
        rate = jnp.asarray(self.rate, dtype)
        if self.optimiser == "gd":
            return optax.sgd(rate)
        if self.optimiser == "momentum":
            return optax.sgd(rate, momentum=self.decay)
        if self.optimiser == "adam":
            return optax.adam(rate)
        return optax.adamw(rate, weight_decay=self.weight_decay)
