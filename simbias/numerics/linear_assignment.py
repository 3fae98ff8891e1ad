"""The linear assignment problem, compiled and under `vmap`."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


def linear_assignment(cost: Float[Array, "m m"]) -> Int[Array, " m"]:
    """The column of every row, each used once, of least total cost.

    argmin over permutations π of Σᵢ cost[i, π(i)], by shortest augmenting paths, in
    O(m³).  A first matching is made of the rows whose cheapest column, after the
    columns' own minima are taken off, is free; exact up to rounding of the costs.  Of
    costs that are not finite nothing is made: the rows then keep their places.

    Reference: Jonker & Volgenant (1987), Computing 38, 325; Crouse (2016), IEEE Trans.
    Aerosp. Electron. Syst. 52, 1679, which scipy.optimize.linear_sum_assignment is of.
    """
    m = cost.shape[0]
    rows = jnp.arange(m, dtype=jnp.int32)
    is_finite = jnp.all(jnp.isfinite(cost))
    cost = jnp.where(is_finite, cost, 0)
    # `price` and the matching keep cost − price least, in a row, where it is matched.
    price = jnp.min(cost, axis=0)
    wanted = jnp.argmin(cost - price[None, :], axis=1).astype(jnp.int32)
    owner = jnp.full(m, m, jnp.int32).at[wanted].min(rows)
    owner = jnp.where(owner == m, -1, owner)
    is_free = owner[wanted] != rows

    def with_row(i: Int[Array, ""], state: tuple) -> tuple:
        return jax.lax.cond(is_free[i], lambda s: _augmented(cost, i, *s), _same, state)

    _, owner = jax.lax.fori_loop(0, m, with_row, (price, owner))
    found = jnp.zeros(m, jnp.int32).at[owner].set(rows)
    return jnp.where(is_finite, found, rows)


def _same(state: tuple) -> tuple:
    return state


def _augmented(
    cost: Float[Array, "m m"],
    start: Int[Array, ""],
    price: Float[Array, " m"],
    owner: Int[Array, " m"],
) -> tuple[Float[Array, " m"], Int[Array, " m"]]:
    """Prices and owners of the columns once one more row has a column."""
    m = cost.shape[0]
    infinity = jnp.full(m, jnp.inf, cost.dtype)

    def is_searching(search: tuple) -> Array:
        return search[-1] >= 0

    def scan(search: tuple) -> tuple:
        distance, before, is_scanned, reached, offset, _, row = search
        through = reached + cost[row] - price - offset
        is_shorter = ~is_scanned & (through < distance)
        distance = jnp.where(is_shorter, through, distance)
        before = jnp.where(is_shorter, row, before)
        column = jnp.argmin(jnp.where(is_scanned, jnp.inf, distance)).astype(jnp.int32)
        reached = distance[column]
        is_scanned = is_scanned.at[column].set(True)
        row = owner[column]
        offset = cost[row, column] - price[column]
        return distance, before, is_scanned, reached, offset, column, row

    zero = jnp.zeros((), cost.dtype)
    nobody, nothing = jnp.full(m, start, jnp.int32), jnp.zeros(m, bool)
    search = (infinity, nobody, nothing, zero, zero, jnp.int32(-1), start)
    found = jax.lax.while_loop(is_searching, scan, search)
    distance, before, is_scanned, reached, _, column, _ = found
    price = jnp.where(is_scanned, price - (reached - distance), price)

    def is_going(path: tuple) -> Array:
        return path[-1] >= 0

    def back(path: tuple) -> tuple:
        """Gives a column to the row it was reached from, which leaves its own."""
        owner, column = path
        row = before[column]
        left = jnp.argmax(owner == row).astype(jnp.int32)
        left = jnp.where(row == start, -1, left)
        return owner.at[column].set(row), left

    owner, _ = jax.lax.while_loop(is_going, back, (owner, column))
    return price, owner
