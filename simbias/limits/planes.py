"""Samples that share a hyperplane w·x = 0: duplicates, multiples, mirror images."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

# Unit inputs (or their negatives) that differ by less than this many roundings in every
# coordinate have one hyperplane, as in the exact flow.
_COINCIDENT = 1000


class Planes(NamedTuple):
    """The hyperplanes of a sample, each named by its first row.

    Above a plane is where w·x > 0 for that row: there the samples that are reversed are
    inactive, and the others active.

    Attributes:
        first: first row of each row's plane; a row without one (x = 0) has itself.
        is_reversed: whether a row points the other way than the first.
        unit: x/|x|, 0 for a row without a plane.
    """

    first: Int[Array, " n"]
    is_reversed: Bool[Array, " n"]
    unit: Float[Array, "n e"]

    @property
    def is_first(self) -> Bool[Array, " n"]:
        """Rows that stand for their plane."""
        return self.first == jnp.arange(len(self.first), dtype=jnp.int32)


def planes(x: Float[Array, "n e"], eps: float) -> Planes:
    """Group inputs that point the same way or opposite ways, to rounding.

    A row that is near to one that is itself near to an earlier one, which is not near
    to the row, has a plane of its own: nearness is not transitive.

    Args:
        x: inputs.
        eps: rounding of the precision they were drawn in.
    """
    length = jnp.linalg.norm(x, axis=1, keepdims=True)
    unit = x / jnp.where(length > 0, length, 1)
    place = jnp.arange(len(x), dtype=jnp.int32)

    def leader(i):
        gap = lambda other: jnp.max(jnp.abs(unit - other[None, :]), axis=1)
        is_near = jnp.minimum(gap(unit[i]), gap(-unit[i])) <= _COINCIDENT * eps
        return jnp.argmax(is_near | (place == i)).astype(jnp.int32)

    first = jax.lax.map(leader, place)
    first = jnp.where(first[first] == first, first, place)
    first = jnp.where(length[:, 0] > 0, first, place)
    return Planes(first, jnp.sum(unit * unit[first], axis=1) < 0, unit)
