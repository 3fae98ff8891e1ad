"""How far neurons may turn before they can meet a plane.

A neuron whose direction ŵ = w/|w| is at the distance c = min s u·ŵ from the planes that
it is not held on, u their unit normals and s its sides, meets none before its direction
has moved by c.  So most neurons need not be held against all samples in every step:
a step takes from c what it turns them, and only those that have used it up are looked
at anew.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.course import Course, Step
from simbias.flows._relu.crossings import may_meet
from simbias.flows._relu.norms import norm_of_rows, rounding
from simbias.flows._relu.rows import holds, on_wanted_rows
from simbias.numerics.precision import matmul

# Numbers of one array of some neurons and all planes.
_SOME = 2**18


def who_may_meet(
    course: Course, step: Step, clear: Float[Array, " m"] | None
) -> tuple[Bool[Array, " m"], Float[Array, " m"] | None]:
    """Neurons that may meet a plane on a course, and the clearance c of all at its end.

    That is of a course without events.

    Args:
        course: the whole step for every neuron.
        step: what they share.
        clear: c at its beginning, 0 where unknown.
    """
    if clear is None:
        return may_meet(course, step), None
    start, end, third = course.start, course.end, step.length / 3
    there = _direction(start.w)
    # The course stays within the hull of these, as does its direction.
    hull = (start.w + third * start.dw, end.w - third * end.dw, end.w)
    apart = jnp.stack([norm_of_rows(_direction(w) - there) for w in hull])
    turns, slack = jnp.max(apart, axis=0), rounding(clear)
    is_looked_at = (turns > 0) & (turns + slack >= clear)
    context = course, step
    arrays, static = eqx.partition(context, eqx.is_array)

    def look(arrays, some):
        place, _, _, _ = some
        course, step = eqx.combine(arrays, static)
        course = jax.tree.map(lambda v: v.at[place].get(mode="clip"), course)
        return place, may_meet(course, step), _clearance(course, step), place < 0

    m, n = course.is_above.shape
    rows = min(m, max(_SOME // n, 16))
    place = jnp.arange(m, dtype=jnp.int32)
    tree = place, jnp.zeros_like(is_looked_at), clear - apart[-1], is_looked_at
    tree = on_wanted_rows(look, lambda v: v[3], arrays, tree, rows)
    return tree[1], tree[2]


def turned_by(
    clear: Float[Array, " m"], before: Float[Array, "m e"], after: Float[Array, "m e"]
) -> Float[Array, " m"]:
    """Clearance after a small turn."""
    return clear - norm_of_rows(_direction(after) - _direction(before))


def _clearance(course: Course, step: Step) -> Float[Array, " c"]:
    """c at the end of a course without events."""
    data = step.sample
    is_plane = jnp.any(data.normal != 0, axis=1)[None, :]
    is_free = is_plane & ~holds(course.pins.plane, data.planes.first)
    side = jnp.where(course.is_above, 1, -1).astype(course.begin.dtype)
    height = side * matmul(_direction(course.end.w), data.normal.T)
    return jnp.min(jnp.where(is_free, height, jnp.inf), axis=1)


def _direction(w: Float[Array, "c e"]) -> Float[Array, "c e"]:
    size = norm_of_rows(w)[:, None]
    return w / jnp.where(size > 0, size, 1)
