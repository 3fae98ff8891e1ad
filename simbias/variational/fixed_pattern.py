"""Flow and tangents of a two-layer ReLU network whose activation pattern is fixed."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from simbias.core import Loss
from simbias.numerics.ode_solution import ode_solution


class Weights(NamedTuple):
    """Weights, a hidden bias as the last of w; tangents have a leading axis."""

    w: Float[Array, "... m e"]
    a: Float[Array, "... m k"]


class Sample(NamedTuple):
    """A sample, inputs with the 1 of a bias as their last entry, or its tangents."""

    x: Float[Array, "... n e"]
    y: Float[Array, "... n k"]
    weight: Float[Array, "... n"]


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a program is compiled for: the loss, and which weights are trained."""

    loss: Loss
    moves_w: bool
    moves_a: bool


class Pattern(NamedTuple):
    """Slope of every neuron on every sample, and the samples on which it slides."""

    gate: Float[Array, "m n"]
    pins: Int[Array, "m s"]  # −1 for none


@eqx.filter_jit
def velocity(
    problem: Problem, weights: Weights, sample: Sample, pattern: Pattern
) -> Weights:
    """F = −∇L with a fixed pattern, projected where neurons slide."""

    def value(weights: Weights) -> Float[Array, ""]:
        hidden = pattern.gate * (weights.w @ sample.x.T)
        return problem.loss(hidden.T @ weights.a, sample.y, sample.weight)

    gradient = jax.grad(value)(weights)
    w = _projected(-gradient.w, sample.x, pattern.pins)
    zero = jnp.zeros_like
    a = -gradient.a if problem.moves_a else zero(gradient.a)
    return Weights(w if problem.moves_w else zero(w), a)


@eqx.filter_jit
def advanced(
    problem: Problem,
    state: tuple[Weights, Weights],
    samples: tuple[Sample, Sample],
    pattern: Pattern,
    ends: Float[Array, "2"],
    tolerances: Float[Array, "2"],
) -> tuple[Weights, Weights]:
    """Weights and tangents after a time without events.

    V' = ∂F/∂θ V + ∂F/∂ε, by a method of order 8, forward or backward in time.

    Args:
        problem: of the program.
        state: weights, and tangents with a leading axis.
        samples: the sample and its tangents.
        pattern: during this time.
        ends: of the time.
        tolerances: relative and absolute.
    """
    sample, along = samples

    def both(state: tuple[Weights, Weights]) -> tuple[Weights, Weights]:
        weights, tangent = state
        field = lambda w, z: velocity(problem, w, z, pattern)
        one = lambda t, s: jax.jvp(field, (weights, sample), (t, s))[1]
        return field(weights, sample), jax.vmap(one)(tangent, along)

    found = ode_solution(both, state, ends, tolerances[0], tolerances[1])
    return jax.tree.map(lambda v: v[-1], found)


def sizes(weights: Weights) -> Float[Array, "..."]:
    """Norm of all weights, or of every tangent."""
    squares = [jnp.sum(v**2, axis=(-2, -1)) for v in weights]
    return jnp.sqrt(squares[0] + squares[1])


def _projected(
    w: Float[Array, "m e"], x: Float[Array, "n e"], pins: Int[Array, "m s"]
) -> Float[Array, "m e"]:
    """Without the directions of the samples on which a neuron slides."""

    def one(row: Float[Array, " e"], pinned: Int[Array, " s"]) -> Float[Array, " e"]:
        basis = []
        for place in range(pinned.shape[0]):
            v = x[pinned[place]]
            length = v @ v
            for u in basis:
                v = v - (v @ u) * u
            is_new = (pinned[place] >= 0) & (v @ v > 1e-20 * length)
            safe = jnp.where(is_new, v, 1.0)
            basis.append(jnp.where(is_new, safe / jnp.linalg.norm(safe), 0.0))
        for u in basis:
            row = row - (row @ u) * u
        return row

    return jax.vmap(one)(w, pins)
