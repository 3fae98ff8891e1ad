"""Planes that neurons of few directions may meet in a step: a few of many.

Neurons of one class that have come to point the same way turn together, and come to the
same planes.  With the control points of each course (a cubic lies within their hull) as
directions P̂, ĉ the mean of those of a class and ρ the largest |P̂ − ĉ|, no neuron of it
comes nearer to a plane than min s u·ĉ − ρ, as a share of its size.  Those planes that
are further from every class than κ, half of the angle by which it turns, are met by
none, even if events move its course by as much.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.classes import Classes
from simbias.flows._relu.course import Course, Step
from simbias.flows._relu.norms import norm_of_rows, rounding, unit_rows
from simbias.flows._relu.planes import Planes
from simbias.numerics.precision import matmul

# Planes that there is room for, and samples from which so few are worth finding.
ROOM, _MANY = 128, 256
# Share of the turn of a class by which events may move its neurons.
_LEEWAY = 0.5


class FewPlanes(NamedTuple):
    """Rows of planes that may be met (n where none), and how far off all others stay.

    `margin` is κ of every neuron.  Where there are more than there is room for, the
    rest means nothing.
    """

    index: Int[Array, " s"]
    margin: Float[Array, " m"]
    is_enough: Bool[Array, ""]


def may_be_few(n: int) -> bool:
    """Whether it is worth knowing of so many samples."""
    return n >= _MANY


def few_planes(
    course: Course,
    step: Step,
    classes: Classes,
    hull: tuple[Float[Array, "m e"], ...],
    is_meant: Bool[Array, " m"],
) -> FewPlanes:
    """Those that some neurons may meet.

    Args:
        course: the whole step for every neuron.
        step: what they share.
        classes: of all neurons.
        hull: directions of the control points of each course, the first its start.
        is_meant: which neurons.
    """
    normal, room = step.sample.normal, classes.first.shape[0]
    kind = jnp.where(is_meant, classes.kind, room)
    sum_of = lambda v: jax.ops.segment_sum(v, kind, room + 1)[:room]
    most_of = lambda v: jax.ops.segment_max(v, kind, room + 1)[:room]
    is_class = sum_of(is_meant.astype(jnp.int32)) > 0
    side = jnp.where(course.is_above[classes.first], 1, -1).astype(normal.dtype)
    centres = [unit_rows(sum_of(v)) for v in hull]
    spread = [
        most_of(norm_of_rows(v - c[classes.kind]))
        for v, c in zip(hull, centres, strict=True)
    ]
    turn = jnp.stack([norm_of_rows(c - centres[0]) for c in centres])
    margin = _LEEWAY * jnp.max(turn, axis=0) + rounding(normal)
    distance = [
        side * matmul(c, normal.T) - rho[:, None]
        for c, rho in zip(centres, spread, strict=True)
    ]
    is_near = jnp.min(jnp.stack(distance), axis=0) <= margin[:, None]
    is_plane = jnp.any(normal != 0, axis=1)
    may_be_met = jnp.any(is_near & is_class[:, None], axis=0) & is_plane
    (index,) = jnp.nonzero(may_be_met, size=ROOM, fill_value=len(normal))
    is_enough = classes.is_enough & (jnp.sum(may_be_met) <= ROOM)
    return FewPlanes(index.astype(jnp.int32), margin[classes.kind], is_enough)


def control_points(course: Course, step: Step) -> tuple[Float[Array, "c e"], ...]:
    """Those of a course that is the whole step; it stays within their hull."""
    start, end, third = course.start, course.end, step.length / 3
    return start.w, start.w + third * start.dw, end.w - third * end.dw, end.w


def among(course: Course, step: Step, few: FewPlanes) -> tuple[Course, Step]:
    """A course and its step on a sample of these planes alone."""
    sample, n = step.sample, len(step.sample.x)
    place = jnp.arange(ROOM, dtype=jnp.int32)
    take = lambda v: v.at[few.index].get(mode="fill", fill_value=0)
    planes = Planes(place, take(sample.planes.is_reversed), jnp.full_like(place, -1))
    sample = eqx.tree_at(
        lambda s: (s.x, s.normal, s.length, s.planes, s.y, s.weight),
        sample,
        (
            take(sample.x), take(sample.normal), take(sample.length), planes,
            take(sample.y), take(sample.weight),
        ),
    )  # fmt: skip
    local = jnp.full(n, -1, jnp.int32).at[few.index].set(place, mode="drop")
    plane = course.pins.plane
    course = eqx.tree_at(
        lambda c: (c.is_above, c.pins.plane),
        course,
        (
            course.is_above.at[:, few.index].get(mode="fill", fill_value=False),
            jnp.where(plane >= 0, local[jnp.maximum(plane, 0)], -1),
        ),
    )
    step = step._replace(
        sample=sample, before=take(step.before), after=take(step.after)
    )
    return course, step


def among_all(new: Course, course: Course, step: Step, few: FewPlanes) -> Course:
    """A course among few planes as one among all.

    Args:
        new: the course, its events followed.
        course: what it was before, among all planes.
        step: of the latter.
        few: the planes.
    """
    first, place = step.sample.planes.first, jnp.arange(ROOM, dtype=jnp.int32)
    local = jnp.full(len(first), -1, jnp.int32).at[few.index].set(place, mode="drop")
    local = local[first]
    there = new.is_above[:, jnp.maximum(local, 0)]
    plane = new.pins.plane
    return eqx.tree_at(
        lambda c: (c.is_above, c.pins.plane),
        new,
        (
            jnp.where(local >= 0, there, course.is_above),
            jnp.where(plane >= 0, few.index[jnp.maximum(plane, 0)], -1),
        ),
    )


def keeps_clear(
    course: Course, hull: tuple[Float[Array, "c e"], ...], margin: Float[Array, " c"]
) -> Bool[Array, " c"]:
    """Whether events have moved a course so little that it meets no other plane.

    Args:
        course: after its events.
        hull: control points of what it was before.
        margin: κ.
    """
    size = jnp.min(jnp.stack([norm_of_rows(w) for w in hull]), axis=0)
    return course.shift < margin * size
