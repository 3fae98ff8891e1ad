"""Work on the few rows that need it, in arrays of fixed shape."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from simbias.numerics.conditionals import repeat_while

# Numbers of one array of some neurons and all planes: a few of them fit the cache.
_NUMBERS = 2**18
_LEAST_ROWS = 16


def rows_at_once(m: int, n: int, numbers: int = _NUMBERS) -> int:
    """How many of m neurons are worth looking at together, each with n numbers."""
    return min(m, max(numbers // n, _LEAST_ROWS))


def on_wanted_rows(
    change: Callable[[PyTree, PyTree], PyTree],
    wanted: Callable[[PyTree], Bool[Array, " m"]],
    context: PyTree,
    tree: PyTree,
    rows: int,
) -> PyTree:
    """Apply `change` to `rows` of the wanted rows at a time, until there are none.

    Args:
        change: of `context` and some rows; what is not wanted again must say so.
        wanted: which rows of a tree are to be changed.
        context: what `change` reads besides.
        tree: leaves of m rows.
        rows: how many at a time.
    """
    arrays, static = eqx.partition(context, eqx.is_array)

    def turn(arrays, tree):
        treat = lambda some: change(eqx.combine(arrays, static), some)
        return on_some_rows(treat, tree, wanted(tree), rows)

    return repeat_while(lambda tree: jnp.any(wanted(tree)), turn)(arrays, tree)


def on_some_rows(
    change: Callable[[PyTree], PyTree],
    tree: PyTree,
    is_wanted: Bool[Array, " m"],
    rows: int,
) -> PyTree:
    """Apply `change` to the first `rows` wanted rows of every leaf."""
    m = is_wanted.shape[0]
    # Places left over lie behind the last row: they read it and write nothing.
    (index,) = jnp.nonzero(is_wanted, size=min(rows, m), fill_value=m)
    some = change(jax.tree.map(lambda v: v.at[index].get(mode="clip"), tree))
    put = lambda old, new: old.at[index].set(new, mode="drop")
    return jax.tree.map(put, tree, some)


def least_and_place(
    value: Float[Array, "c n"],
) -> tuple[Float[Array, " c"], Int[Array, " c"]]:
    """The least of each row, and where it is (any place if there are several).

    Two plain reductions: a fifth of what `argmin` costs on a CPU.
    """
    place = jax.lax.broadcasted_iota(jnp.int32, value.shape, 1)
    least = jnp.min(value, axis=1, keepdims=True)
    return least[:, 0], jnp.max(jnp.where(value == least, place, 0), axis=1)


def holds(slots: Int[Array, "c s"], place: Int[Array, " n"]) -> Bool[Array, "c n"]:
    """Which of some places are in a row's slots."""
    place = place[None, :].astype(slots.dtype)
    # Slot by slot, all in one fused pass; `any` over a third axis is ten times slower.
    found = jnp.zeros((slots.shape[0], place.shape[1]), bool)
    for slot in range(slots.shape[1]):
        found |= slots[:, slot, None] == place
    return found


def with_flips(
    is_above: Bool[Array, "c n"],
    plane: Int[Array, "c s"],
    gain: Int[Array, "c s"],
    first: Int[Array, " n"],
) -> Bool[Array, "c n"]:
    """Sides after some planes were crossed upwards (gain 1) or downwards (−1)."""
    goes_up = holds(jnp.where(gain > 0, plane, -1), first)
    goes_down = holds(jnp.where(gain < 0, plane, -1), first)
    return (is_above | goes_up) & ~goes_down
