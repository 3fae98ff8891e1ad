"""Neurons that move under constant residuals, and the lines they move along."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped

from simbias.flows._relu.norms import rounding
from simbias.flows._relu.sliding import project, sliding_normals
from simbias.flows._relu.step_trajectory import Sliding, StepData

# A neuron may meet every plane so many times in a step, and some more.
_ROUNDS, _MORE = 8, 64


class Moving(eqx.Module):
    """What changes of a neuron while it only crosses planes.

    A look chooses the planes that may be met next.

    Attributes:
        w: input weights.
        a: output weight.
        moment: M.
        fraction: the time it has come to, as a fraction of the step.
        is_above: its sides of the planes of the last look.
        event_count: events in this step.
        crossings: crossings in this step.
        tau: how far it has come, in τ, since the last look.
        goes: whether it still moves.
        is_held_up: whether it is at a plane that it may not just cross.
        share: length of its next batch as a share of |w|.
        waits: looks until the next batch is tried.
        patience: how many looks it waits after the next batch that is not worth it.
    """

    w: Float[Array, "c e"]
    a: Float[Array, " c"]
    moment: Float[Array, "c e"]
    fraction: Float[Array, " c"]
    is_above: Bool[Array, "c s"]
    event_count: Int[Array, " c"]
    crossings: Int[Array, " c"]
    tau: Float[Array, " c"]
    goes: Bool[Array, " c"]
    is_held_up: Bool[Array, " c"]
    share: Float[Array, " c"]
    waits: Int[Array, " c"]
    patience: Int[Array, " c"]


class SlidingPlanes(eqx.Module):
    """What some neurons slide on, which stays what it is here."""

    plane: Int[Array, "c p"]
    normals: Float[Array, "c p e"]
    dual: Float[Array, "c p e"]


class Line(eqx.Module):
    """The straight way of a neuron, and how fast it goes along."""

    w: Float[Array, "c e"]
    unit: Float[Array, "c e"]
    speed: Float[Array, " c"]
    p: Float[Array, " c"]
    a: Float[Array, " c"]
    square: Float[Array, " c"]

    def time(self, tau: Float[Array, " c"]) -> Float[Array, " c"]:
        """When it is at w + τV; infinite where it never is.

        |V| t is the change of ln(|a| + p), and that of −ln(|a| − p): whichever does not
        cancel, as (|a| + p)(|a| − p) = |w⊥|² + |a|² − |w|² stays.  Where that is 0, a
        neuron with p < 0 comes ever closer to w = 0 and is never there.
        """
        p = self.p + tau * self.speed
        a = self.size_at(p)
        ahead = (a + p) / (self.a + self.p)
        behind = (self.a - self.p) / (a - p)
        square = jnp.where(self.square > 0, self.square, 1)
        through = (a + p) * ((self.a - self.p) / square)
        through = jnp.where(self.square > 0, through, jnp.inf)
        growth = jnp.where(self.p >= 0, ahead, jnp.where(p < 0, behind, through))
        return jnp.where(self.speed > 0, jnp.log(growth) / self.speed, jnp.inf)

    def after(self, time: Float[Array, " c"]) -> tuple[Array, Array]:
        """Weights w and |a| after some time."""
        is_back = self.p < 0
        large = self.a + jnp.abs(self.p)
        small = self.square / jnp.where(large > 0, large, 1)
        growth = jnp.exp(self.speed * time)
        plus = jnp.where(is_back, small, large) * growth
        minus = jnp.where(is_back, large, small) / growth
        moved = (plus - minus) / 2 - self.p
        return self.w + moved[:, None] * self.unit, (plus + minus) / 2

    def size_at(self, p: Float[Array, " c"]) -> Float[Array, " c"]:
        """|a| where w·V/|V| = p."""
        return jnp.sqrt(self.square + p**2)


def line_of(
    w: Float[Array, "c e"], a: Float[Array, " c"], velocity: Float[Array, "c e"]
) -> Line:
    """The line of a neuron with these weights, |a| and V."""
    speed = jnp.sqrt(jnp.sum(velocity**2, axis=1))
    unit = velocity / jnp.where(speed > 0, speed, 1)[:, None]
    p = jnp.sum(w * unit, axis=1)
    aside = jnp.sum((w - p[:, None] * unit) ** 2, axis=1)
    surplus = a**2 - jnp.sum(w**2, axis=1)
    # Of a balanced neuron this is a rounding.
    surplus = jnp.where(surplus > rounding(a) * a**2, surplus, 0)
    return Line(w, unit, speed, p, a, aside + surplus)


def velocity_of(
    moment: Float[Array, "c e"], a: Float[Array, " c"], sliding: SlidingPlanes
) -> Float[Array, "c e"]:
    """V = sign(a) P M."""
    return jnp.sign(a)[:, None] * project(moment, sliding.normals, sliding.dual)


def sliding_planes(sliding: Sliding, step: StepData) -> SlidingPlanes:
    """The planes that neurons slide on, with their normals."""
    normals = sliding_normals(step.sample.normal, sliding.plane)
    return SlidingPlanes(sliding.plane, normals, sliding.dual)


def most_events(step: StepData) -> int:
    """A neuron that meets more planes than that in a step gets nowhere."""
    return _ROUNDS * step.sample.x.shape[0] + _MORE


def slack_of(step: StepData) -> Float[Array, ""]:
    """Speeds below this are roundings of the sum that they are."""
    return 2 * rounding(step.pull_start) * jnp.sum(jnp.abs(step.pull_start))


def chosen(
    condition: Bool[Array, " c"],
    new: Shaped[Array, "c ..."],
    old: Shaped[Array, "c ..."],
) -> Shaped[Array, "c ..."]:
    """The new rows where the condition holds, the old ones elsewhere."""
    return jnp.where(condition.reshape((-1,) + (1,) * (old.ndim - 1)), new, old)
