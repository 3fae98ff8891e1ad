"""Work on the few rows that need it, in arrays of fixed shape."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PyTree


def on_some_rows(
    change: Callable[[PyTree], PyTree],
    tree: PyTree,
    is_wanted: Bool[Array, " m"],
    rows: int,
) -> tuple[PyTree, Bool[Array, " m"]]:
    """Apply `change` to the first `rows` wanted rows of every leaf.

    Rows come back by a gather, not by a scatter, which is a loop on a CPU.

    Returns:
        The tree, and which rows were treated.
    """
    m = is_wanted.shape[0]
    rows = min(rows, m)
    place = jnp.cumsum(is_wanted.astype(jnp.int32)) - 1
    is_treated = is_wanted & (place < rows)
    (index,) = jnp.nonzero(is_wanted, size=rows, fill_value=0)
    some = change(jax.tree.map(lambda v: v[index], tree))
    place = jnp.clip(place, 0, rows - 1)

    def put(old, new):
        wide = is_treated.reshape((m,) + (1,) * (old.ndim - 1))
        return jnp.where(wide, new[place], old)

    return jax.tree.map(put, tree, some), is_treated


def with_flips(
    is_active: Bool[Array, "c n"], sample: Int[Array, "c s"], gain: Int[Array, "c s"]
) -> Bool[Array, "c n"]:
    """Activation pattern after some samples turned on (gain 1) or off (−1)."""
    n = is_active.shape[1]
    hit = sample[:, :, None] == jnp.arange(n, dtype=sample.dtype)[None, None, :]
    turns_on = jnp.any(hit & (gain > 0)[:, :, None], axis=1)
    turns_off = jnp.any(hit & (gain < 0)[:, :, None], axis=1)
    return (is_active | turns_on) & ~turns_off
