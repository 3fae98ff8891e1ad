"""Linear equations modulo 2, a row in a word."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt32

from simbias.errors import BadInput

MOST_UNKNOWNS = 31


class BinarySolution(NamedTuple):
    """What the equations say.

    `unknowns` solve the independent equations, with 0 for an unknown that is free; they
    are the solution if `is_unique`.
    """

    unknowns: Bool[Array, " d"]
    rank: Int[Array, ""]
    is_consistent: Bool[Array, ""]
    is_unique: Bool[Array, ""]


def binary_equations(lhs: Bool[Array, "m d"], rhs: Bool[Array, " m"]) -> BinarySolution:
    """Solve Σⱼ lhsᵢⱼ sⱼ = rhsᵢ (mod 2) for all i, by Gauss–Jordan elimination.

    Args:
        lhs: the equations, m of them.
        rhs: their right-hand sides.

    Raises:
        ValueError: for more than 31 unknowns, which do not fit the word.
    """
    m, d = lhs.shape
    if d > MOST_UNKNOWNS:
        raise BadInput(
            f"`lhs` must have at most {MOST_UNKNOWNS} unknowns, got {d}: a row and its "
            "right-hand side are one word of 32 bits."
        )
    places = jnp.arange(d + 1, dtype=jnp.uint32)
    bits = jnp.concatenate([lhs, rhs[:, None]], axis=1).astype(jnp.uint32)
    words = jnp.sum(bits << places[None, :], axis=1, dtype=jnp.uint32)

    def eliminate(
        carry: tuple[UInt32[Array, " m"], Bool[Array, " m"]],
        column: UInt32[Array, ""],
    ) -> tuple[tuple[UInt32[Array, " m"], Bool[Array, " m"]], Int[Array, ""]]:
        words, is_used = carry
        has = (words >> column) & jnp.uint32(1) == 1
        is_free = has & ~is_used
        exists, row = jnp.any(is_free), jnp.argmax(is_free)
        clears = has & exists & (jnp.arange(m) != row)
        words = jnp.where(clears, words ^ words[row], words)
        is_used = is_used | (exists & (jnp.arange(m) == row))
        return (words, is_used), jnp.where(exists, row, m).astype(jnp.int32)

    start = (words, jnp.zeros(m, bool))
    (words, is_used), pivots = jax.lax.scan(eliminate, start, places[:d])
    right = jnp.append(words >> jnp.uint32(d) & jnp.uint32(1) == 1, False)
    # Rows that are no pivot have nothing left but their right-hand side.
    is_consistent = ~jnp.any(right[:-1] & ~is_used)
    rank = jnp.sum(pivots < m, dtype=jnp.int32)
    return BinarySolution(
        right[pivots], rank, is_consistent, is_consistent & (rank == d)
    )
