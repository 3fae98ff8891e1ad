"""Samples that share a hyperplane: duplicates, multiples, mirror images."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

# Unit inputs (or their negatives) that differ by less than this many roundings in every
# coordinate have one hyperplane: 2.2e-13 in float64, 1.2e-4 in float32.
_COINCIDENT = 1000
# Share of the largest coordinate below which one does not decide the orientation.
_SMALL = 0.377


class Planes(eqx.Module):
    """The hyperplanes w·x = 0 of a sample, each named by its first row.

    A neuron meets all samples of a plane at once.  It is above the plane where
    w·x > 0 for the first of them; on crossing, samples that point the same way and
    those that point the other way change activity together.

    Attributes:
        first: first row of each row's plane; a row without one (x = 0) has itself.
        is_reversed: whether a row points the other way than the first.
        following: the next row of the same plane, −1 at its last.
    """

    first: Int[Array, " n"]
    is_reversed: Bool[Array, " n"]
    following: Int[Array, " n"]

    def is_first(self) -> Bool[Array, " n"]:
        """Rows that stand for their plane."""
        return self.first == jnp.arange(self.first.shape[0], dtype=jnp.int32)

    def totals(self, values: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """Sums over each plane, in the place of its first row; 0 in all others.

        Row after row, so that the bits do not depend on the device's order.
        """

        def add(carry):
            total, at = carry
            is_there = at >= 0
            total = total + jnp.where(is_there[:, None], values[at], 0)
            return total, jnp.where(is_there, self.following[at], -1)

        start = jnp.where(self.is_first(), self.following, -1)
        total = jnp.where(self.is_first()[:, None], values, 0)
        more = lambda carry: jnp.any(carry[1] >= 0)
        return jax.lax.while_loop(more, add, (total, start))[0]


def find_planes(unit: Float[Array, "n e"], eps: float | None = None) -> Planes:
    """Group unit inputs that are equal or opposite; zero rows stay alone.

    Row after row, in the order of their directions, each joins the first leader that
    it is near to, or leads a plane of its own: nearness is not transitive, and a chain
    of neighbours must not become one plane, nor depend on the order of the samples.
    The distance of two units is taken coordinate by coordinate: their cosine tells
    angles below the root of a rounding from nothing.

    Args:
        unit: inputs of length 1, or 0.
        eps: rounding of the precision that they were drawn in; that of their type if
            not given.
    """
    n = unit.shape[0]
    place = jnp.arange(n, dtype=jnp.int32)
    limit = _COINCIDENT * (jnp.finfo(unit.dtype).eps if eps is None else eps)
    is_plane = jnp.any(unit != 0, axis=1)
    order = jnp.lexsort((unit * orientation(unit)[:, None]).T[::-1]).astype(jnp.int32)
    rank = jnp.zeros(n, jnp.int32).at[order].set(place)

    def lead(leader, i):
        is_near = lambda other: jnp.max(jnp.abs(unit - other[None, :]), axis=1) <= limit
        is_same = (is_near(unit[i]) | is_near(-unit[i])) & (leader == place) & is_plane
        first = jnp.min(jnp.where(is_same & is_plane[i], rank, rank[i]))
        return leader.at[i].set(order[first]), None

    leader, _ = jax.lax.scan(lead, jnp.full(n, -1, jnp.int32), order)

    def row(i):
        is_same = leader == leader[i]
        first = jnp.argmax(is_same).astype(jnp.int32)
        later = jnp.min(jnp.where(is_same & (place > i), place, n))
        return first, unit[i] @ unit[first] < 0, jnp.where(later < n, later, -1)

    return Planes(*jax.lax.map(row, place))


def orientation(unit: Float[Array, "n e"]) -> Float[Array, " n"]:
    """±1, by which of two opposite directions are made the same one.

    The sign of the first coordinate that is not small: of lattice points too, rounding
    does not change it.
    """
    size = jnp.abs(unit)
    first = jnp.argmax(size > _SMALL * jnp.max(size, axis=1, keepdims=True), axis=1)
    entry = jnp.take_along_axis(unit, first[:, None], axis=1)[:, 0]
    return jnp.where(entry < 0, -1, 1).astype(unit.dtype)
