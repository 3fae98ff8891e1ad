"""The limit λ → 0 of the gradient flow of two-layer ReLU networks."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status
from simbias.errors import BadInput
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.norms import positive_or_one, unit_rows
from simbias.flows._relu.vanishing.landing import landed
from simbias.flows._relu.vanishing.paused import step_without
from simbias.flows._relu.vanishing.saddle import (
    LEAVING,
    REST,
    TINY,
    Motion,
    Saddle,
    fallen,
    is_at_rest,
    motion,
    next_jump,
    only_grow,
    resized,
)
from simbias.flows._relu.weights import weights, with_weights
from simbias.flows._shared.objective import choose, where_status
from simbias.flows._shared.one_program import one_program
from simbias.flows._shared.step_clock import clock
from simbias.flows.relu_flow import ReluFlow
from simbias.limits.neurons import lacks
from simbias.numerics.conditionals import when
from simbias.validation.values import positive, positive_integer

# An orbit has no end on its own clock, but a step needs one.
_FAR = 1e12
# The end of an orbit is looked for every so many steps, from such a speed on.
_EVERY, _SLOW = 8, 1e-2
# Share of the first residuals below which a sample counts as interpolated.
_INTERPOLATED = 1e-4


class VanishingStart(AbstractFlow):
    """The gradient flow of a two-layer ReLU network for λ → 0, a sequence of saddles.

    Time is s = t / ln(1/λ).  At a saddle few neurons are of order one and at rest; the
    others are small, of size λ^u, with u = 1 at s = 0.  Their directions v have
    settled, at extremal vectors of G, and

        du/ds = −γ,   γ = sign(a) G(v),   G(v) = −Σᵢ ∂L/∂fᵢ σ(v·xᵢ)

    The neurons whose u reaches 0 first leave the saddle.  In no time s they take the
    network along an orbit of the exact flow (`ReluFlow`) to the next saddle, while the
    directions of the other small neurons follow the residuals.  The member ends when
    no neuron grows: as CONVERGED if L is 0, else as STATIONARY.

    Only the directions of the initial weights and the signs of the output weights
    count.  The limit is that of neurons with |a| = |w| exactly: then a neuron that
    shrinks keeps its sign and its direction.  With |a| ≠ |w| it shrinks to a size
    √|a² − |w|²| only, where a or w changes its sign, and then it grows.

    A member ends as TIE if groups of several directions or signs leave at one time:
    then what follows depends on more than the directions.  It ends as MAX_STEPS if it
    has not come to rest by then, as at a degenerate saddle, which the flow approaches
    like a power of t, and as CAPACITY after more than `jumps` jumps.

    A neuron is at rest below a speed of 1e-8 Σ|rᵢ||xᵢ|, r the residuals at f = 0; a
    growth below 1e-6 of that counts as none.  A large neuron that shrinks to nothing
    becomes small again, with u = 0.  Where `limits.basin` proves the end of an orbit,
    it is not followed there.

    The result has `jump_time`, `jump_loss` (at the saddle that is left), `jump_neuron`
    (one of those that leave) and `jump_neurons` (how many do).  `stats` are those of
    `ReluFlow`, and the number of `jumps`.

    Args:
        rtol: relative tolerance of the orbits.
        max_steps: a member that needs more attempts ends as MAX_STEPS.
        jumps: most jumps of a member.

    Reference: Kunin et al. (2025), arXiv:2506.06489, Alternating Gradient Flows, proven
    there for diagonal linear networks; Maennel, Bousquet & Gelly (2018),
    arXiv:1803.08367, for the first saddle.
    """

    pad_to: ClassVar[int] = 64

    rtol: Real = 1e-5
    max_steps: int = eqx.field(static=True, default=20_000)
    jumps: int = eqx.field(static=True, default=32)

    def __check_init__(self):
        positive("rtol", self.rtol)
        positive_integer("max_steps", self.max_steps)
        positive_integer("jumps", self.jumps)

    @property
    def clock(self) -> str:
        """Unit of time."""
        return "t / ln(1/λ)"

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """Numbers that an attempt holds: those of the exact flow."""
        return ReluFlow().attempt_size(network, n, width, tile)

    def step_equations(self, state: FlowState) -> int:
        """About as many as there are."""
        return 8_000 + ReluFlow().step_equations(state.memory.orbit)

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """Time, loss and neurons of every jump; NaN in places that are left."""
        saddle = state.memory
        return {
            "jump_time": saddle.time,
            "jump_loss": saddle.loss,
            "jump_neuron": saddle.neuron,
            "jump_neurons": saddle.leaving,
        }

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at s = 0: all neurons small, with u = 1.

        Raises:
            ValueError: if the network is not a two-layer ReLU or leaky ReLU network
            with one output, all of whose weights are trained, the loss is no mean of
            squares, or the weights are not float64.
        """
        if lack := lacks(network, data, loss):
            raise BadInput(
                f"`flow`: vanishing_start (VanishingStart) asks for {lack}. "
                "Use relu_flow (ReluFlow) or gradient_flow (GradientFlow) at a small "
                "scale, such as 1e-20."
            )
        if network.frozen or network.w.dtype != jnp.float64:
            raise BadInput(
                "`flow`: vanishing_start (VanishingStart) trains all weights, in "
                f"float64, got frozen = {network.frozen} and {network.w.dtype}. "
                'Example: dtype="float64".'
            )
        return self._first_state(network, data, loss, key)

    @one_program
    def _first_state(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        w, a = weights(network)
        network = with_weights(network, TINY * unit_rows(w), TINY * jnp.sign(a))
        orbit = self._flow().init(network, data, loss, key)
        sample = extended_sample(data, loss, network.b is not None, orbit.memory.planes)
        r = orbit.memory.neurons.rates.residual[:, 0]
        y, x = jnp.abs(data.y[:, 0]), sample.norm_x
        size = jnp.sum(data.weight * y) / positive_or_one(jnp.sum(data.weight * x))
        none = jnp.full(self.jumps, jnp.nan)
        saddle = Saddle(
            orbit=orbit,
            exponent=jnp.ones(len(w)),
            is_large=jnp.zeros(len(w), bool),
            speed=jnp.sum(jnp.abs(r) * x),
            size=jnp.sqrt(size),
            count=jnp.int32(0),
            time=none,
            loss=none,
            neuron=none,
            leaving=none,
        )
        stats = {**orbit.stats, "jumps": jnp.int32(0)}
        zero = jnp.zeros((), clock())
        return FlowState(orbit.network, zero, orbit.status, stats, saddle)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt along an orbit; if it has ended, on to the next jump or `until`.

        `until` may be infinite.
        """
        goes = (state.status == Status.RUNNING) & (state.time < until)
        saddle: Saddle = state.memory
        flow, far = self._flow(), jnp.asarray(_FAR, clock())
        has_bias, planes = state.network.b is not None, saddle.orbit.memory.planes
        sample = extended_sample(data, loss, has_bias, planes)
        slope = state.network.negative_slope
        moves_of = lambda orbit: motion(orbit.memory.neurons, sample, slope)
        orbit = step_without(
            lambda orbit: flow.step(orbit, data, loss, far),
            saddle.orbit,
            only_grow(saddle, moves_of(saddle.orbit)),
            sample,
            slope,
        )
        moves = moves_of(orbit)
        fastest = jnp.max(jnp.where(saddle.is_large, jnp.abs(moves.growth), 0))
        attempts = orbit.stats["accepted"] + orbit.stats["rejected"]
        is_near = (fastest > REST * saddle.speed) & (fastest < _SLOW * saddle.speed)
        looks = goes & is_near & (attempts % _EVERY == 0)
        orbit = landed(orbit, saddle.is_large, data, loss, looks)

        moves = moves_of(orbit)
        saddle = fallen(dataclasses.replace(saddle, orbit=orbit), moves)
        is_small = ~saddle.is_large
        factor = jnp.where(is_small, TINY / positive_or_one(moves.size), 1)
        orbit = resized(orbit, factor, is_small)
        saddle = dataclasses.replace(saddle, orbit=orbit)
        stats = {**orbit.stats, "jumps": saddle.count}
        new = FlowState(orbit.network, state.time, orbit.status, stats, saddle)
        rests = is_at_rest(saddle, moves) & (orbit.status == Status.RUNNING)
        r = orbit.memory.neurons.rates.residual[:, 0]
        is_fitted = jnp.sum(jnp.abs(r) * sample.norm_x) <= _INTERPOLATED * saddle.speed
        arrive = when(lambda here, state: self._arrived(state, here, loss))
        context = (data, moves, is_fitted, until.astype(clock()))
        new = arrive(goes & (rests | is_fitted), context, new)
        return choose(goes, new, state)

    def _arrived(
        self,
        state: FlowState,
        here: tuple[Dataset, Motion, Bool[Array, ""], Float[Array, ""]],
        loss: Loss,
    ) -> FlowState:
        """At a saddle: the next jump, `until`, or the end."""
        data, moves, is_fitted, until = here
        saddle: Saddle = state.memory
        neurons = saddle.orbit.memory.neurons
        coming = next_jump(saddle, moves, jnp.sign(neurons.a[:, 0]))
        ends = is_fitted | ~coming.is_any
        status = where_status(ends, Status.STATIONARY, state.status)
        status = where_status(is_fitted, Status.CONVERGED, status)
        jumps = ~ends & (state.time + coming.wait <= until)
        status = where_status(jumps & coming.is_tie, Status.TIE, status)
        is_full = jumps & (saddle.count >= self.jumps)
        status = where_status(is_full, Status.CAPACITY, status)
        now = jnp.where(jumps, state.time + coming.wait, until)
        now = jnp.where(ends, state.time, now)

        leaves = coming.leaves & jumps
        count = jnp.sum(leaves.astype(jnp.float64))
        size = LEAVING * saddle.size / jnp.sqrt(jnp.maximum(count, 1))
        factor = jnp.where(leaves, size / TINY, 1)
        orbit = resized(saddle.orbit, factor, leaves)
        zero = jnp.zeros_like(orbit.time)
        orbit = dataclasses.replace(orbit, time=jnp.where(jumps, zero, orbit.time))
        value = loss(_outputs(state.network, data), data.y, data.weight)
        place = jnp.where(jumps, saddle.count, self.jumps)
        noted = lambda old, new: old.at[place].set(
            jnp.asarray(new, old.dtype), mode="drop"
        )
        saddle = Saddle(
            orbit,
            saddle.exponent - coming.rate * (now - state.time),
            saddle.is_large | leaves,
            saddle.speed,
            saddle.size,
            saddle.count + jumps.astype(jnp.int32),
            noted(saddle.time, now),
            noted(saddle.loss, value),
            noted(saddle.neuron, coming.first),
            noted(saddle.leaving, count),
        )
        stats = {**state.stats, "jumps": saddle.count}
        return FlowState(orbit.network, now, status, stats, saddle)

    def _flow(self) -> ReluFlow:
        return ReluFlow(rtol=self.rtol, max_steps=self.max_steps)


def _outputs(network: Any, data: Dataset) -> Float[Array, "n k"]:
    return jax.vmap(network)(data.x)
