"""What a step must know of the neurons that an aggregated network represents."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Shaped

from simbias.flows._relu.norms import norm_of_rows, rounding
from simbias.flows._relu.step_trajectory import Sliding


class RepresentedNeurons(eqx.Module):
    """The neurons that an aggregated network represents, `group` rows for each class.

    With y = Σₖ cₖ Yₖ over the rows of its class a neuron moves by at most
    Σₖ |cₖ| |ΔYₖ|, and so does its w.  Of each class the last row is the largest: the
    only one of a ray, the first principal axis of a bundle.

    Attributes:
        size: 1 / max |cₖ|/|y|, the change of a row that changes some neuron by 100 %.
        count: neurons that each row represents.
        w: weights at the start, when the rest was known.
        reach: max |cₖ|/|w|, how far a row turns the neurons.
        least: min cₖ/|y| over those of a class, k its largest row.
        clearance: how far those of a class may turn before one can meet a plane.
        is_bundle: classes of neurons that are not parallel.
        group: rows of a class.
    """

    size: Float[Array, " s"]
    count: Float[Array, " s"]
    w: Float[Array, "s e"]
    reach: Float[Array, " s"]
    least: Float[Array, " r"]
    clearance: Float[Array, " r"]
    is_bundle: Bool[Array, " r"]
    group: int = eqx.field(static=True)

    def of_class(self, rows: Shaped[Array, "s ..."]) -> Shaped[Array, "r ..."]:
        """The largest row of each."""
        return rows[self.group - 1 :: self.group]

    def is_largest(self) -> Bool[Array, " s"]:
        """Rows that are the largest of their class."""
        each = jnp.arange(self.size.shape[0], dtype=jnp.int32)
        return each % self.group == self.group - 1

    def grown(self, w: Float[Array, "s e"]) -> Float[Array, " r"]:
        """By what factor the neurons of each class have grown along their way."""
        then, now = self.of_class(self.w), self.of_class(w)
        length = norm_of_rows(then)[:, None]
        unit = jnp.where(length > 0, length, 1)
        factor = jnp.sum((now / unit) * (then / unit), axis=1)
        return jnp.where(length[:, 0] > 0, factor, 1)

    def turned(self, w: Float[Array, "s e"]) -> Float[Array, " r"]:
        """How far the directions of those of a bundle can have moved since the start.

        |ŵ − ŵ₀| ≤ 2 |w − g w₀| / (g |w₀|) for every g > 0; here it is the growth.
        """
        factor = self.grown(w)
        each = jnp.repeat(factor, self.group)
        apart = norm_of_rows(w - each[:, None] * self.w)
        part = jnp.where(apart > 0, self.reach * apart, 0)
        total = 2 * jnp.sum(part.reshape(-1, self.group), axis=1)
        bound = jnp.where(factor > 0, total / jnp.where(factor > 0, factor, 1), jnp.inf)
        return jnp.where(self.is_bundle & (total > 0), bound, 0)

    def hold(self, sliding: Sliding) -> Bool[Array, ""]:
        """Whether all bundles are pushed back from both sides of what they slide on.

        Escape speeds are linear in (w, a): of y they are Σₖ cₖ times those of rows.
        """
        is_sliding = self.of_class(sliding.plane >= 0) & self.is_bundle[:, None]
        return jnp.all(
            ~is_sliding
            | (self._above(sliding.speed_below) & self._above(-sliding.speed_above))
        )

    def _above(self, speed: Float[Array, "s p"]) -> Bool[Array, "r p"]:
        """Whether what is linear in (w, a) is > 0 for all those of a class."""
        part = jnp.abs(speed) / jnp.where(self.size > 0, self.size, 1)[:, None]
        part = jnp.where(self.is_largest()[:, None], 0, part)
        rest = jnp.sum(part.reshape(-1, self.group, speed.shape[1]), axis=1)
        return self.least[:, None] * self.of_class(speed) > rest

    def follow_own_events(self) -> Bool[Array, " s"]:
        """Rows that follow events of their own."""
        return ~jnp.repeat(self.is_bundle, self.group)

    def may_meet(self, *points: Float[Array, "s e"]) -> Bool[Array, ""]:
        """Whether one of a bundle might meet a plane at weights between these."""
        turns = jnp.stack([self.turned(w) for w in points])
        most = jnp.max(turns, axis=0)
        return jnp.any((most > 0) & (most + rounding(most) >= self.clearance))


def sizes(
    w: Float[Array, "s e"],
    a: Float[Array, "s k"],
    represented: RepresentedNeurons | None,
) -> Float[Array, " s"]:
    """|(w, a)|, or the length of a row by which errors in it are measured."""
    size = norm_of_rows(w, a)
    if represented is None:
        return size
    grown = jnp.repeat(jnp.abs(represented.grown(w)), represented.group)
    is_bundle = jnp.repeat(represented.is_bundle, represented.group)
    return jnp.where(is_bundle, grown * represented.size, size)
