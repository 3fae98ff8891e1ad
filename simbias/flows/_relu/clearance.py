"""How far neurons may turn before they can meet a plane.

A neuron whose direction ŵ = w/|w| is at the distance c = min s u·ŵ from the planes that
it is not held on, u their unit normals and s its sides, meets none before its direction
has moved by c.  So most neurons need not be held against all samples in every step:
a step takes from c what it turns them, and only those that have used it up are looked
at anew.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.crossings import may_meet
from simbias.flows._relu.masked_rows import holds, on_wanted_rows, rows_at_once, rows_of
from simbias.flows._relu.norms import norm_of_rows, rounding, unit_rows
from simbias.flows._relu.step_trajectory import Step, Trajectory, control_points
from simbias.numerics.precision import matmul


class Prospect(NamedTuple):
    """What neurons may meet in a step.

    Attributes:
        is_pending: neurons that may meet a plane.
        clear: c of all at the end of a step without events, None if it is not known.
    """

    is_pending: Bool[Array, " m"]
    clear: Float[Array, " m"] | None


def prospect(
    trajectory: Trajectory, step: Step, clear: Float[Array, " m"] | None
) -> Prospect:
    """Of a whole step for every neuron, before any event.

    Args:
        trajectory: of every neuron.
        step: what they share.
        clear: c at its beginning, 0 where unknown.
    """
    if clear is None:
        return Prospect(may_meet(trajectory, step), None)
    directions = [unit_rows(w) for w in control_points(trajectory, step.length)]
    apart = jnp.stack([norm_of_rows(v - directions[0]) for v in directions])
    turns, slack = jnp.max(apart, axis=0), rounding(clear)
    is_looked_at = (turns > 0) & (turns + slack >= clear)
    place = jnp.arange(len(clear), dtype=jnp.int32)
    tree = place, jnp.zeros_like(is_looked_at), clear - apart[-1], is_looked_at
    tree = _looked(trajectory, step, tree)
    return Prospect(tree[1], tree[2])


def clearance_anew(
    trajectory: Trajectory,
    step: Step,
    clear: Float[Array, " m"],
    is_meant: Bool[Array, " m"],
) -> Float[Array, " m"]:
    """The clearance c at the end of a step, of those that are meant found anew."""
    place = jnp.arange(clear.shape[0], dtype=jnp.int32)
    tree = place, jnp.zeros_like(is_meant), clear, is_meant
    return _looked(trajectory, step, tree)[2]


def _looked(trajectory: Trajectory, step: Step, tree: tuple) -> tuple:
    """Who of those that are to be looked at may meet a plane, and c at the end."""
    rows = rows_at_once(*trajectory.is_above.shape)
    arrays, static = eqx.partition((trajectory, step), eqx.is_array)

    def look(arrays, some):
        place, _, _, _ = some
        trajectory, step = eqx.combine(arrays, static)
        take = lambda v: v.at[place].get(mode="clip")
        trajectory = jax.tree.map(take, trajectory)
        return (
            place,
            may_meet(trajectory, step),
            _clearance(trajectory, step),
            place < 0,
        )

    wanted = lambda some: some[3]
    return on_wanted_rows(look, wanted, arrays, rows_of(tree), rows).tree


def turned_by(
    clear: Float[Array, " m"], before: Float[Array, "m e"], after: Float[Array, "m e"]
) -> Float[Array, " m"]:
    """Clearance after a small turn."""
    return clear - turn(before, after)


def turn(before: Float[Array, "m e"], after: Float[Array, "m e"]) -> Float[Array, " m"]:
    """How far directions have moved."""
    return norm_of_rows(unit_rows(after) - unit_rows(before))


def _clearance(trajectory: Trajectory, step: Step) -> Float[Array, " c"]:
    """Its c at the end of a step without events."""
    data = step.sample
    is_plane = jnp.any(data.normal != 0, axis=1)[None, :]
    is_free = is_plane & ~holds(trajectory.sliding.plane, data.planes.first)
    side = jnp.where(trajectory.is_above, 1, -1).astype(trajectory.begin.dtype)
    height = side * matmul(unit_rows(trajectory.end.w), data.normal.T)
    return jnp.min(jnp.where(is_free, height, jnp.inf), axis=1)
