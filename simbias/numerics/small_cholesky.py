"""Cholesky's factorisation of a small matrix, without LAPACK.

For what runs in a batch, where several factorisations by LAPACK may wait for each other
(`simbias.numerics.factorisations`).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


def small_cholesky(
    matrix: Float[Array, "s s"], count: Int[Array, ""]
) -> Float[Array, "s s"]:
    """L, lower triangular, with L Lᵀ = matrix, column by column.

    Args:
        matrix: symmetric and positive definite.
        count: rows that come first; the others have nothing off the diagonal.  Takes
            O(count · s²) operations.
    """
    rows = jnp.arange(matrix.shape[0], dtype=count.dtype)

    def column(j, lower):
        left = matrix[:, j] - lower @ lower[j]
        own = jnp.where(rows >= j, left / jnp.sqrt(left[j]), 0)
        return lower.at[:, j].set(own)

    root = jnp.sqrt(jnp.diagonal(matrix))
    return jax.lax.fori_loop(
        0, count, column, jnp.diag(jnp.where(rows < count, 0, root))
    )


def solved(
    lower: Float[Array, "s s"], right: Float[Array, " s"], count: Int[Array, ""]
) -> Float[Array, " s"]:
    """Solution x of L Lᵀ x = right; arguments as of `small_cholesky`."""
    diagonal = jnp.diagonal(lower)
    # Rows from `count` on are alone; the others are 0 until they are solved.
    is_alone = jnp.arange(len(lower), dtype=count.dtype) >= count
    begun = lambda v: jnp.where(is_alone, v / diagonal, 0)

    def forward(j, y):
        return y.at[j].set((right[j] - lower[j] @ y) / diagonal[j])

    half = jax.lax.fori_loop(0, count, forward, begun(right))

    def backward(k, x):
        j = count - 1 - k
        return x.at[j].set((half[j] - lower[:, j] @ x) / diagonal[j])

    return jax.lax.fori_loop(0, count, backward, begun(half))
