"""The linear assignment problem, compiled, for many problems at once under `vmap`."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


def linear_assignment(cost: Float[Array, "m m"]) -> Int[Array, " m"]:
    """The column of every row, each used once, of least total cost.

    argmin over permutations π of Σᵢ cost[i, π(i)], by shortest augmenting paths, in
    O(m³), exact up to rounding of the costs.  Before, rows bid for columns: each takes
    its cheapest from whoever had it, at a price that makes its second choice as good.
    Under `vmap` all problems advance in the same loop, each with a row of its own,
    until the last one is done.  Of costs that are not finite nothing is made: the rows
    then keep their places.

    Reference: Jonker & Volgenant (1987), Computing 38, 325; Crouse (2016), IEEE Trans.
    Aerosp. Electron. Syst. 52, 1679, which scipy.optimize.linear_sum_assignment is of.
    """
    rows = jnp.arange(cost.shape[0], dtype=jnp.int32)
    is_finite = jnp.all(jnp.isfinite(cost))
    cost = jnp.where(is_finite, cost, 0)
    matching = _by_bids(cost)

    def is_open(state: tuple[_Matching, _Search]) -> Bool[Array, ""]:
        return jnp.any(state[0].column < 0) | (state[1].path >= 0)

    def turn(state: tuple[_Matching, _Search]) -> tuple[_Matching, _Search]:
        matching, search = state
        is_searching = search.path < 0
        ahead = _scanned(cost, *state)
        choose = lambda a, b: jnp.where(is_searching, a, b)
        return jax.tree.map(choose, ahead, _matched_back(matching, search))

    start = (matching, _new_search(matching))
    matching, _ = jax.lax.while_loop(is_open, turn, start)
    return jnp.where(is_finite, matching.column, rows)


class _Matching(NamedTuple):
    """`cost − price` is least, in a row, at its column; −1 is nobody's."""

    price: Float[Array, " m"]
    column: Int[Array, " m"]
    owner: Int[Array, " m"]


class _Search(NamedTuple):
    """Shortest paths from the row `start` to columns, over `row` now.

    `path` is −1 until a column that nobody owns is reached, then the column to be given
    next, backwards.
    """

    start: Int[Array, ""]
    row: Int[Array, ""]
    path: Int[Array, ""]
    reached: Float[Array, ""]
    distance: Float[Array, " m"]
    before: Int[Array, " m"]
    is_scanned: Bool[Array, " m"]


def _by_bids(cost: Float[Array, "m m"]) -> _Matching:
    """Columns to the rows that find them cheapest; then 2m bids of rows without one."""
    m = cost.shape[0]
    rows = jnp.arange(m, dtype=jnp.int32)
    price = jnp.min(cost, axis=0)
    wanted = jnp.argmin(cost - price[None, :], axis=1).astype(jnp.int32)
    owner = jnp.full(m, m, jnp.int32).at[wanted].min(rows)
    owner = jnp.where(owner == m, -1, owner)
    column = jnp.where(owner[wanted] == rows, wanted, -1)
    if m == 1:
        return _Matching(price, column, owner)

    def bid(_: Int[Array, ""], state: tuple) -> tuple:
        (price, column, owner), gives_up = state
        is_bidding = (column < 0) & ~gives_up
        row = jnp.argmax(is_bidding).astype(jnp.int32)
        reduced = cost[row] - price
        # Of equal ones a column that is nobody's.
        rank = jnp.where(owner < 0, 2, 1)
        first = jnp.argmax(jnp.where(reduced <= jnp.min(reduced), rank, 0))
        rise = jnp.min(reduced.at[first].set(jnp.inf)) - reduced[first]
        left = owner[first]
        # Between equal choices nothing is gained by taking another's.
        is_bid = is_bidding[row] & ((left < 0) | (rise > 0))
        taken = column.at[jnp.where(left < 0, m, left)].set(-1, mode="drop")
        taken = taken.at[row].set(first.astype(jnp.int32))
        new = _Matching(price.at[first].add(-rise), taken, owner.at[first].set(row))
        choose = lambda a, b: jnp.where(is_bid, a, b)
        matching = jax.tree.map(choose, new, _Matching(price, column, owner))
        return matching, gives_up.at[row].set(gives_up[row] | ~is_bid)

    start = (_Matching(price, column, owner), jnp.zeros(m, bool))
    return jax.lax.fori_loop(0, 2 * m, bid, start)[0]


def _new_search(matching: _Matching) -> _Search:
    """From the first row that has no column."""
    price, column, _ = matching
    start = jnp.argmax(column < 0).astype(jnp.int32)
    nobody, infinity = jnp.full_like(column, start), jnp.full_like(price, jnp.inf)
    none, zero = jnp.zeros(price.shape, bool), jnp.zeros((), price.dtype)
    return _Search(start, start, jnp.int32(-1), zero, infinity, nobody, none)


def _scanned(
    cost: Float[Array, "m m"], matching: _Matching, search: _Search
) -> tuple[_Matching, _Search]:
    """One more column is reached; if it is nobody's, prices follow."""
    price, column, owner = matching
    start, row, _, reached, distance, before, is_scanned = search
    # What the row pays where it is; of `start`, which is nowhere, nothing.
    own = column[row]
    offset = jnp.where(own < 0, 0, cost[row, own] - price[own])
    through = reached + cost[row] - price - offset
    is_shorter = ~is_scanned & (through < distance)
    distance = jnp.where(is_shorter, through, distance)
    before = jnp.where(is_shorter, row, before)
    place = jnp.argmin(jnp.where(is_scanned, jnp.inf, distance)).astype(jnp.int32)
    reached, row = distance[place], owner[place]
    is_scanned = is_scanned.at[place].set(True)
    is_found = row < 0
    lowered = jnp.where(is_scanned & is_found, price - (reached - distance), price)
    path = jnp.where(is_found, place, -1)
    found = _Search(start, row, path, reached, distance, before, is_scanned)
    return _Matching(lowered, column, owner), found


def _matched_back(matching: _Matching, search: _Search) -> tuple[_Matching, _Search]:
    """A column goes to the row it was reached from, which leaves its own."""
    price, column, owner = matching
    row = search.before[search.path]
    left = column[row]
    matching = _Matching(
        price, column.at[row].set(search.path), owner.at[search.path].set(row)
    )
    is_done = row == search.start
    going = search._replace(path=left)
    choose = lambda a, b: jnp.where(is_done, a, b)
    return matching, jax.tree.map(choose, _new_search(matching), going)
