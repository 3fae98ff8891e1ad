"""Norm of what a network moves by."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Loss
from simbias.limits.classes import classes
from simbias.losses import half_mse
from simbias.measures.rest._read import forces
from simbias.numerics.precision import matmul

# Turns of coordinate descent in a box of at most so many planes.
_TURNS, _PLANES = 100, 16


class LeastSubgradient(AbstractMeasure):
    """Norm of the least subgradient of the loss.

    min |g| over g ∈ ∂L(θ), Clarke's subdifferential: |θ'| under the gradient flow

    On a hyperplane w·x = 0 the part of a neuron is a segment, on s of them a box,

        aⱼ (q + Σₛ ζₛ jₛ nₛ),  0 ≤ ζₛ ≤ 1,

    with n the unit normals and j what crossing adds; duplicates and mirror images are
    one hyperplane.  The least point is found by descent in one ζ after the other.  A
    neuron of next to no size adds next to nothing, so that it is as small at a saddle
    as it is at an end; `NeuronGrowth` tells them apart.  Two layers of ReLU or leaky
    ReLU, one output.

    Args:
        loss: what the flow descends.

    Reference: Davis, Drusvyatskiy, Kakade & Lee (2020), Found. Comput. Math. 20, 119.
    """

    loss: Loss = eqx.field(static=True, default=half_mse)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Norm over all weights that are trained."""
        neurons, sample, pull = forces("LeastSubgradient", network, data, self.loss)
        w, a, slope, x = neurons.w, neurons.a, neurons.slope, sample.x
        of = classes(neurons, sample, len(w), _PLANES, is_by_sign=False)
        # Below a plane the samples that are reversed are active.
        is_back = of.planes.is_reversed[None, :]
        below = of.factor + jnp.where(of.on, jnp.where(is_back, 1, slope), 0)
        q = matmul(below * pull[None, :], x)
        pulls = jnp.linalg.norm(x, axis=1) * pull
        of_plane = jax.ops.segment_sum(pulls, of.planes.first, len(x))
        jump = (1 - slope) * of_plane[jnp.maximum(of.sliding.row, 0)]
        step = jump[:, :, None] * of.sliding.normal
        least = jax.vmap(_least)(q, step)[of.kind]
        least = jnp.where(of.is_moved[:, None], least, 0)
        moved = a**2 * jnp.sum(least**2, axis=1)
        if not neurons.is_output_frozen:
            moved = moved + jnp.sum(w * least, axis=1) ** 2
        return jnp.sqrt(jnp.sum(moved))


def _least(q: Float[Array, " e"], step: Float[Array, "p e"]) -> Float[Array, " e"]:
    """Least vector of q + Σₛ ζₛ stepₛ, 0 ≤ ζ ≤ 1."""
    squares = jnp.sum(step**2, axis=1)

    def change(at, s):
        vector, zeta = at
        is_some = squares[s] > 0
        wish = zeta[s] - vector @ step[s] / jnp.where(is_some, squares[s], 1)
        new = jnp.where(is_some, jnp.clip(wish, 0, 1), 0)
        return (vector + (new - zeta[s]) * step[s], zeta.at[s].set(new)), None

    turn = lambda _, at: jax.lax.scan(change, at, jnp.arange(len(step)))[0]
    start = (q, jnp.zeros_like(squares))
    return jax.lax.fori_loop(0, _TURNS, turn, start)[0]
