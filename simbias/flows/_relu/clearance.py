"""How far neurons may turn before they can meet a plane.

The clearance of a neuron of direction ŵ = w/|w| is c = min s u·ŵ over the planes that
it does not slide on, u their unit normals and s its sides.  It meets none of them
before its direction has moved by c.  So most neurons need not be compared with all
samples in every step: a step subtracts from c how far it turns them, and c is computed
anew only for neurons that have used it up.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.crossings import may_meet
from simbias.flows._relu.masked_rows import (
    contains,
    on_wanted_rows,
    pack_rows,
    rows_at_once,
)
from simbias.flows._relu.norms import direction_change, rounding, unit_rows
from simbias.flows._relu.step_trajectory import StepData, Trajectory, control_points
from simbias.numerics.precision import matmul


class EventScreening(NamedTuple):
    """What neurons may meet in a step.

    Attributes:
        is_pending: neurons that may meet a plane.
        clearance: c of all at the end of a step without events, None if unknown.
    """

    is_pending: Bool[Array, " m"]
    clearance: Float[Array, " m"] | None


def screen_events(
    trajectory: Trajectory, step: StepData, clearance: Float[Array, " m"] | None
) -> EventScreening:
    """Of a whole step for every neuron, before any event.

    Args:
        trajectory: of every neuron.
        step: what they share.
        clearance: c at its beginning, 0 where unknown.
    """
    if clearance is None:
        return EventScreening(may_meet(trajectory, step), None)
    points = control_points(trajectory, step.length)
    apart = jnp.stack([direction_change(points[0], w) for w in points])
    turns, slack = jnp.max(apart, axis=0), rounding(clearance)
    is_looked_at = (turns > 0) & (turns + slack >= clearance)
    place = jnp.arange(len(clearance), dtype=jnp.int32)
    tree = place, jnp.zeros_like(is_looked_at), clearance - apart[-1], is_looked_at
    tree = _screened(trajectory, step, tree)
    return EventScreening(tree[1], tree[2])


def clearance_anew(
    trajectory: Trajectory,
    step: StepData,
    clearance: Float[Array, " m"],
    is_meant: Bool[Array, " m"],
) -> Float[Array, " m"]:
    """The clearance c at the end of a step, of those that are meant found anew."""
    place = jnp.arange(clearance.shape[0], dtype=jnp.int32)
    tree = place, jnp.zeros_like(is_meant), clearance, is_meant
    return _screened(trajectory, step, tree)[2]


def _screened(trajectory: Trajectory, step: StepData, tree: tuple) -> tuple:
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
    return on_wanted_rows(look, wanted, arrays, pack_rows(tree), rows).tree


def clearance_after(
    clearance: Float[Array, " m"],
    before: Float[Array, "m e"],
    after: Float[Array, "m e"],
) -> Float[Array, " m"]:
    """Clearance after a small turn."""
    return clearance - direction_change(before, after)


def _clearance(trajectory: Trajectory, step: StepData) -> Float[Array, " c"]:
    """Its c at the end of a step without events."""
    data = step.sample
    is_plane = data.is_plane()[None, :]
    can_be_met = is_plane & ~contains(trajectory.sliding.plane, data.planes.first)
    side = jnp.where(trajectory.is_above, 1, -1).astype(trajectory.fraction.dtype)
    height = side * matmul(unit_rows(trajectory.end.w), data.normal.T)
    return jnp.min(jnp.where(can_be_met, height, jnp.inf), axis=1)
