"""Neurons that slide on data hyperplanes: projection, and the speed of leaving."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped

from simbias.flows._relu.spd_solve import spd_solve


def sliding_normals(
    normal: Float[Array, "n e"], sliding: Int[Array, "c p"]
) -> Float[Array, "c p e"]:
    """Unit normals of the hyperplanes a neuron slides on; 0 where `plane` is −1."""
    return jnp.where((sliding >= 0)[:, :, None], normal[jnp.maximum(sliding, 0)], 0)


def dual_basis(normals: Float[Array, "c p e"]) -> Float[Array, "c p e"]:
    """uₛ in the span of the normals with uₛ·xₜ = δₛₜ; 0 where the normal is 0."""
    size = normals.shape[1]
    gram = jnp.sum(normals[:, :, None, :] * normals[:, None, :, :], axis=3)
    is_empty = jnp.sum(normals**2, axis=2) == 0
    eye = jnp.eye(size, dtype=normals.dtype)[None]
    return spd_solve(jnp.where(is_empty[:, :, None], eye, gram), normals)


def project(
    vector: Float[Array, "c e"],
    normals: Float[Array, "c p e"],
    dual: Float[Array, "c p e"],
) -> Float[Array, "c e"]:
    """Nearest vector with v·xₛ = 0 for all planes slid on: v − Σₛ (uₛ·v) xₛ."""
    part = jnp.sum(dual * vector[:, None, :], axis=2)
    return vector - jnp.sum(part[:, :, None] * normals, axis=1)


def jumps(
    a: Float[Array, "c k"], pull: Float[Array, "c s k"], slope: float
) -> Float[Array, "c s"]:
    """Velocity gained along the unit normal from below a hyperplane to above it.

    j = −(1 − s) a·R with R = Σ |x| r over its samples, whichever way they point;
    < 0 at a convex kink, on which a neuron can slide.
    """
    return -(1 - slope) * jnp.sum(a[:, None, :] * pull, axis=2)


def moment_loss(
    side_change: Shaped[Array, "c s"],
    pull: Float[Array, "c s k"],
    normals: Float[Array, "c s e"],
    slope: float,
) -> Float[Array, "c k e"]:
    """(1 − s) Σₖ gₖ Rₖ xₖᵀ: what M loses by planes crossed up (g = 1) or down (−1)."""
    weight = side_change.astype(normals.dtype) * (1 - slope)
    part = (weight[:, :, None] * pull)[:, :, :, None]
    return jnp.sum(part * normals[:, :, None, :], axis=1)


def normal_speeds(
    drive: Float[Array, "c e"], jump: Float[Array, "c p"], dual: Float[Array, "c p e"]
) -> tuple[Float[Array, "c p"], Float[Array, "c p"], Float[Array, "c p"]]:
    """Speed of w·xₛ on either side of a plane when sliding on the others only.

    With q = 1/|u|² the squared distance of xₛ from the span of the other normals,

        below  q (u·D),    above  q (u·D + j).

    Sliding on the plane holds while the first is > 0 and the second < 0.

    Args:
        drive: D, velocity of the weights from below all planes slid on, unprojected.
        jump: j, velocity gained along xₛ above (< 0 at a convex kink).
        dual: from `dual_basis`.

    Returns:
        Speed below, above, and q (0 for an empty slot).
    """
    length = jnp.sum(dual**2, axis=2)
    is_sliding = length > 0
    room = jnp.where(is_sliding, 1 / jnp.where(is_sliding, length, 1), 0)
    below = room * jnp.sum(dual * drive[:, None, :], axis=2)
    return below, below + room * jump, room


def is_attracting(
    below: Float[Array, "c p"],
    above: Float[Array, "c p"],
    slack: Float[Array, ""] | float = 0.0,
) -> Bool[Array, "c p"]:
    """Whether a plane pushes the neuron back from both sides, by more than a slack."""
    return (below > slack) & (above < -slack)
