"""The subgradient a neuron on several hyperplanes moves along."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.spd_solve import spd_solve

# Blocks first.  One index at a time may take hundreds of turns if 32 normals point
# alike, as in the test of this module: there is room for 20 for each plane, and 60.
_BLOCK_PIVOTS, _PIVOTS, _OF_EACH = 6, 60, 20


def box_least_norm(
    normals: Float[Array, "c s e"],
    drive: Float[Array, "c e"],
    upper: Float[Array, "c s"],
    is_undecided: Bool[Array, "c s"],
) -> Int[Array, "c s"]:
    """Which side of each hyperplane the Filippov solution takes: −1, 0 or +1.

        ζ = argmin |D − Σₛ ζₛ xₛ|²  over  0 ≤ ζₛ ≤ uₛ

    with D the drive when the neuron counts as below all hyperplanes, xₛ their unit
    normals and uₛ > 0 the loss of speed above (a convex kink).  ζ at 0 means that the
    neuron stays below (−1), ζ at u that it goes above (+1), between them that it slides
    (0).  A tie is no sliding: a neuron that arrives where nothing pulls it back has
    arrived.  Block principal pivoting, and one index at a time (Murty's rule, finite
    for positive definite matrices) if that is slow.

    Args:
        normals: unit normals, linearly independent where `is_undecided`.
        drive: velocity of the weights without these samples.
        upper: uₛ, at least 0.
        is_undecided: hyperplanes to decide on; the rest get −1.

    Reference: Júdice & Pires (1994), Comput. Oper. Res. 21, 587 (block pivoting with
    bounds); Davis, Drusvyatskiy, Kakade & Lee (2020) for the minimum norm.
    """
    size = normals.shape[1]
    normals = jnp.where(is_undecided[:, :, None], normals, 0)
    gram = jnp.sum(normals[:, :, None, :] * normals[:, None, :, :], axis=3)
    speed = jnp.sum(normals * drive[:, None, :], axis=2)
    upper = jnp.where(is_undecided, upper, 0)
    rounding = 64 * jnp.finfo(drive.dtype).eps
    slack = rounding * jnp.max(jnp.abs(speed) + upper, axis=1, keepdims=True)
    eye = jnp.eye(size, dtype=drive.dtype)[None]

    def wish(side):
        # Where every index wants to be, given that the others stay.
        slides = (side == 0) & is_undecided
        fixed = jnp.where(side > 0, upper, 0)
        right = speed - jnp.sum(gram * fixed[:, None, :], axis=2)
        both = slides[:, :, None] & slides[:, None, :]
        matrix = jnp.where(both, gram, eye)
        right = jnp.where(slides, right, 0)
        zeta = fixed + spd_solve(matrix, right[:, :, None])[:, :, 0]
        left = speed - jnp.sum(gram * zeta[:, None, :], axis=2)
        low, high = slides & (zeta < slack), slides & (zeta > upper - slack)
        back = is_undecided & (
            (side < 0) & (left > slack) | (side > 0) & (left < -slack)
        )
        return jnp.where(low, -1, jnp.where(high, 1, jnp.where(back, 0, side)))

    def body(carry):
        side, _, count = carry
        new = wish(side)
        differs = new != side
        last = size - 1 - jnp.argmax(differs[:, ::-1], axis=1)
        is_last = jnp.arange(size)[None, :] == last[:, None]
        moves = differs & (is_last | (count < _BLOCK_PIVOTS))
        return jnp.where(moves, new, side), jnp.any(differs), count + 1

    def is_open(carry):
        _, differs, count = carry
        return differs & (count < _PIVOTS + _OF_EACH * size)

    start = jnp.where(is_undecided, 0, -1)
    side, _, _ = jax.lax.while_loop(is_open, body, (start, jnp.any(is_undecided), 0))
    return side
