"""Rows of truth values that are equal."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int


def alike(
    rows: Bool[Array, "m n"], is_meant: Bool[Array, " m"], room: int
) -> tuple[Int[Array, " r"], Int[Array, " m"], Bool[Array, ""]]:
    """A row of each class of equal rows, the class of each, and whether all have one.

    Of the rows that are meant; the others have class 0, and say nothing.  Rows are
    sorted by two hashes of 32 bits; that those of one class are equal is then checked.
    """
    m, n = rows.shape
    salt = jax.random.bits(jax.random.key(0), (2, n), jnp.uint32) | 1
    total = lambda s: jnp.sum(jnp.where(rows, s[None, :], 0), axis=1, dtype=jnp.uint32)
    one, two = total(salt[0]), total(salt[1])
    order = jnp.lexsort((two, one, ~is_meant))
    is_new = (
        jnp.ones(m, bool)
        .at[1:]
        .set((one[order][1:] != one[order][:-1]) | (two[order][1:] != two[order][:-1]))
    )
    number = jnp.cumsum(is_new & is_meant[order], dtype=jnp.int32) - 1
    kind = jnp.zeros(m, jnp.int32).at[order].set(jnp.clip(number, 0, room - 1))
    first = (
        jnp.zeros(room, jnp.int32)
        .at[kind[order][::-1]]
        .set(order[::-1].astype(jnp.int32))
    )
    is_same = jnp.all((rows == rows[first[kind]]) | ~is_meant[:, None])
    return first, kind, is_same & (number[-1] < room)
