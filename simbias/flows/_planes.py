"""Samples that share a hyperplane: duplicates, multiples, mirror images."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

# Unit inputs (or their negatives) that differ by less than this many roundings in every
# coordinate have one hyperplane: 2.2e-13 in float64, 1.2e-4 in float32.
_COINCIDENT = 1000


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


def find_planes(unit: Float[Array, "n e"]) -> Planes:
    """Group unit inputs that are equal or opposite; zero rows stay alone.

    The distance of two units is taken coordinate by coordinate: their cosine tells
    angles below the root of a rounding from nothing.
    """
    n = unit.shape[0]
    place = jnp.arange(n, dtype=jnp.int32)
    limit = _COINCIDENT * jnp.finfo(unit.dtype).eps
    is_plane = jnp.any(unit != 0, axis=1)

    def row(i):
        is_near = lambda other: jnp.max(jnp.abs(unit - other[None, :]), axis=1) <= limit
        is_same = (is_near(unit[i]) | is_near(-unit[i])) & is_plane & is_plane[i]
        first = jnp.min(jnp.where(is_same, place, i))
        later = jnp.min(jnp.where(is_same & (place > i), place, n))
        return first, unit[i] @ unit[first] < 0, jnp.where(later < n, later, -1)

    return Planes(*jax.lax.map(row, place))
