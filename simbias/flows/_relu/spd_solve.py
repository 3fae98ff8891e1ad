"""Many small symmetric positive definite systems at once, without pivoting."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# Longer eliminations are looped: unrolled they are slow to compile.
_UNROLLED = 4


def spd_solve(
    matrix: Float[Array, "c p p"], right: Float[Array, "c p q"]
) -> Float[Array, "c p q"]:
    """X with A X = B for every one of c systems, by Gauss-Jordan elimination.

    Elementwise in c, hence one fused pass per column instead of c calls of LAPACK.
    """
    size = matrix.shape[1]
    table = jnp.concatenate([matrix, right], axis=2)
    if size <= _UNROLLED:
        for column in range(size):
            table = _eliminate(column, table)
    else:
        table = jax.lax.fori_loop(0, size, _eliminate, table)
    return table[:, :, size:]


def _eliminate(
    column: int | Array, table: Float[Array, "c p r"]
) -> Float[Array, "c p r"]:
    row = jax.lax.dynamic_index_in_dim(table, column, 1)
    row = row / jax.lax.dynamic_index_in_dim(row, column, 2)
    factor = jax.lax.dynamic_index_in_dim(table, column, 2)
    is_pivot = (jnp.arange(table.shape[1]) == column)[None, :, None]
    return jnp.where(is_pivot, row, table - factor * row)
