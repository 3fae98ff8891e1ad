"""Work on the few rows that need it, in arrays of fixed shape."""

import math
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree, Shaped

from simbias.numerics.conditionals import repeat_while

# Numbers of one array of some neurons and all planes: a few of them fit the cache.
_NUMBERS = 2**18
_LEAST_ROWS = 16
# Neurons × samples from which programs that treat some neurons by themselves, or look
# at some only, are worth what they take to compile.
PAYS = 2**16
# Leaves of more numbers a row than that are not put beside others.
_NARROW = 64


class _Part(NamedTuple):
    """Where a leaf lies: the block, its columns there and the shape of its rows."""

    block: int
    start: int
    stop: int
    shape: tuple[int, ...]


class Rows(eqx.Module):
    """A tree whose leaves have m rows, those of one type side by side in one array.

    What takes rows out and puts them back does so once a type and not once a leaf: a
    tenth less for XLA to compile.
    """

    blocks: tuple[Shaped[Array, "m _"], ...]
    parts: tuple[_Part, ...] = eqx.field(static=True)
    structure: jax.tree_util.PyTreeDef = eqx.field(static=True)

    @property
    def tree(self) -> PyTree:
        """The tree that it is made of."""
        take = lambda p: self.blocks[p.block][:, p.start : p.stop]
        leaves = [take(p).reshape((-1, *p.shape)) for p in self.parts]
        return jax.tree.unflatten(self.structure, leaves)


def pack_rows(tree: PyTree) -> Rows:
    """The leaves of a tree side by side."""
    leaves, structure = jax.tree.flatten(tree)
    columns: list[list[Array]] = []
    block_of: dict[jnp.dtype, int] = {}
    parts: list[_Part] = []
    for leaf in leaves:
        width = math.prod(leaf.shape[1:])
        flat = leaf.reshape(leaf.shape[0], width)
        block = len(columns)
        if width <= _NARROW:
            block = block_of.setdefault(leaf.dtype, block)
        if block == len(columns):
            columns.append([])
        start = sum(v.shape[1] for v in columns[block])
        columns[block].append(flat)
        parts.append(_Part(block, start, start + width, leaf.shape[1:]))
    blocks = tuple(v[0] if len(v) == 1 else jnp.concatenate(v, 1) for v in columns)
    return Rows(blocks, tuple(parts), structure)


def rows_at_once(m: int, n: int, numbers: int = _NUMBERS) -> int:
    """How many of m neurons are worth looking at together, each with n numbers."""
    return min(m, max(numbers // n, _LEAST_ROWS))


def on_wanted_rows(
    change: Callable[[PyTree, PyTree], PyTree],
    wanted: Callable[[PyTree], Bool[Array, " m"]],
    context: PyTree,
    rows: Rows,
    count: int,
) -> Rows:
    """Apply `change` to some of the wanted rows at a time, until there are none.

    Args:
        change: of `context` and a tree of some rows; what is not wanted again must say
            so.
        wanted: which rows of a tree are to be changed.
        context: what `change` reads besides.
        rows: of a tree.
        count: how many at a time.
    """
    arrays, static = eqx.partition(context, eqx.is_array)

    def body(arrays, rows):
        treat = lambda some: change(eqx.combine(arrays, static), some)
        return on_some_rows(treat, rows, wanted(rows.tree), count)

    return repeat_while(lambda rows: jnp.any(wanted(rows.tree)), body)(arrays, rows)


def on_some_rows(
    change: Callable[[PyTree], PyTree],
    rows: Rows,
    is_wanted: Bool[Array, " m"],
    count: int,
) -> Rows:
    """Apply `change`, of a tree, to the first `count` wanted rows."""
    m = is_wanted.shape[0]
    # Places left over lie behind the last row: they read it and write nothing.
    (index,) = jnp.nonzero(is_wanted, size=min(count, m), fill_value=m)
    some = jax.tree.map(lambda v: v.at[index].get(mode="clip"), rows)
    put = lambda old, new: old.at[index].set(new, mode="drop")
    return jax.tree.map(put, rows, pack_rows(change(some.tree)))


def least_and_place(
    value: Float[Array, "c n"],
) -> tuple[Float[Array, " c"], Int[Array, " c"]]:
    """The least of each row, and where it is (any place if there are several).

    Two plain reductions: a fifth of what `argmin` costs on a CPU.
    """
    place = jax.lax.broadcasted_iota(jnp.int32, value.shape, 1)
    least = jnp.min(value, axis=1, keepdims=True)
    return least[:, 0], jnp.max(jnp.where(value == least, place, 0), axis=1)


def contains(slots: Int[Array, "c s"], place: Int[Array, " n"]) -> Bool[Array, "c n"]:
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
    side_change: Int[Array, "c s"],
    first: Int[Array, " n"],
) -> Bool[Array, "c n"]:
    """Sides after some planes were crossed, upwards (1) or downwards (−1)."""
    goes_up = contains(jnp.where(side_change > 0, plane, -1), first)
    goes_down = contains(jnp.where(side_change < 0, plane, -1), first)
    return (is_above | goes_up) & ~goes_down
