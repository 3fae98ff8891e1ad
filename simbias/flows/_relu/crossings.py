"""Neurons that meet data hyperplanes during a step, one event after the other."""

from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.cubic import (
    Cubic,
    approximate_root,
    crosses_at_most_once,
    first_root,
    may_cross_twice,
    single_root,
)
from simbias.flows._relu.event_rules import (
    Decision,
    decide,
    first_plane,
    jumps_at,
    sliding_after,
)
from simbias.flows._relu.events import MAX_EVENTS, kinds_at, kinds_of_leaving
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.masked_rows import (
    PAYS,
    contains,
    least_and_place,
    on_some_rows,
    on_wanted_rows,
    pack_rows,
)
from simbias.flows._relu.norms import largest_of_rows, norm_of_rows, rounding
from simbias.flows._relu.single_neuron import Point, displacement, mix, point
from simbias.flows._relu.sliding import (
    dual_basis,
    normal_speeds,
    project,
    sliding_normals,
)
from simbias.flows._relu.step_trajectory import Sliding, StepData, Trajectory
from simbias.numerics.conditionals import repeat_while, when
from simbias.numerics.precision import matmul


def follow_events(trajectory: Trajectory, step: StepData, rows: int) -> Trajectory:
    """Carry every neuron through its events, `rows` of the pending ones at a time.

    `trajectory` must be the whole step; only pending neurons may have events.
    """
    # Neurons that do not slide need one slot at most; a few of them are not worth a
    # pass of their own, nor are those of a small network worth the program.
    fewest = min(rows, trajectory.fraction.shape[0]) // 2
    has_own_pass = trajectory.is_above.size >= PAYS

    def nonsliding(trajectory):
        slides = jnp.any(trajectory.sliding.plane >= 0, axis=1)
        is_nonsliding = trajectory.is_pending & ~slides
        return is_nonsliding & (jnp.sum(is_nonsliding) > fewest)

    arrays, static = eqx.partition(step, eqx.is_array)

    def body(arrays, every):
        step = eqx.combine(arrays, static)
        if has_own_pass:
            every = on_wanted_rows(
                _next_event_of_nonsliding, nonsliding, step, every, rows
            )
        treat = lambda some: _next_event(step, some)
        return on_some_rows(treat, every, every.tree.is_pending, rows)

    more = lambda every: jnp.any(every.tree.is_pending)
    return repeat_while(more, body)(arrays, pack_rows(trajectory)).tree


def _next_event_of_nonsliding(step: StepData, trajectory: Trajectory) -> Trajectory:
    """`_next_event` of neurons that do not slide."""
    slots = trajectory.sliding
    one = jax.tree.map(lambda v: v[:, :1], slots)
    new = _next_event(step, replace(trajectory, sliding=one), may_slide=False)
    sliding = jax.tree.map(
        lambda a, b: jnp.concatenate([a, b[:, 1:]], 1), new.sliding, slots
    )
    return replace(new, sliding=sliding)


def _next_event(
    step: StepData, trajectory: Trajectory, may_slide: bool = True
) -> Trajectory:
    found, k, fraction, there = _first_event(trajectory, step)
    # A neuron that does not slide meets no planes that depend on each other.
    if may_slide:
        k, is_choice = first_plane(trajectory, step, k, fraction, there)
        made = trajectory.nonunique_events + is_choice.astype(jnp.int32)
        trajectory = replace(trajectory, nonunique_events=made)
    decision = decide(trajectory, step, k, fraction, there)
    new = _redirected(trajectory, step, fraction, there, decision)
    is_pending = may_meet(new, step) & (new.event_count < MAX_EVENTS)
    new = replace(new, is_pending=is_pending)
    old = replace(trajectory, is_pending=jnp.zeros_like(found))
    pick = lambda a, b: jnp.where(found.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)
    return jax.tree.map(pick, new, old)


def may_meet(trajectory: Trajectory, step: StepData) -> Bool[Array, " c"]:
    """Whether a w·x ends on the wrong side, or might dip there in between."""
    cubic, rounding = _distances(trajectory, step)
    # A neuron is at 0 at both ends of the planes that it slides on.
    return jnp.any((cubic.h1 < -rounding) | may_cross_twice(cubic, rounding), axis=1)


def _first_event(
    trajectory: Trajectory, step: StepData
) -> tuple[Bool[Array, " c"], Int[Array, " c"], Float[Array, " c"], Point]:
    """Earliest zero of a w·x on the rest of the step, by cubic Hermite interpolation.

    Returns:
        Whether there is one, its plane, its time as a fraction of the step, and the
        weights there (velocities are placeholders).
    """
    start, end = trajectory.start, trajectory.end
    cubic, rounding = _distances(trajectory, step)
    can_be_met = ~contains(trajectory.sliding.plane, step.sample.planes.first)
    among = (cubic, rounding, can_be_met)
    is_odd = jnp.any(can_be_met & ~crosses_at_most_once(cubic, rounding))
    dipping = when(lambda among, _: _earliest(approximate_root, *among))
    least, k = dipping(is_odd, among, _earliest(single_root, *among))
    found = jnp.isfinite(least)
    take = lambda v: jnp.take_along_axis(v, k[:, None], axis=1)[:, 0]
    u = first_root(jax.tree.map(take, cubic))
    fraction = trajectory.fraction + (1 - trajectory.fraction) * u
    u, left = u[:, None], ((1 - trajectory.fraction) * step.length)[:, None]
    b0, b1 = (1 + 2 * u) * (1 - u) ** 2, u**2 * (3 - 2 * u)
    c0, c1 = left * u * (1 - u) ** 2, left * u**2 * (u - 1)
    w = b0 * start.w + c0 * start.dw + b1 * end.w + c1 * end.dw
    a = b0 * start.a + c0 * start.da + b1 * end.a + c1 * end.da
    return found, k, fraction, Point(w, a, start.dw, start.da)


def _earliest(
    root: Callable[..., Float[Array, "c n"]],
    cubic: Cubic,
    rounding: Float[Array, ""],
    can_be_met: Bool[Array, "c n"],
) -> tuple[Float[Array, " c"], Int[Array, " c"]]:
    return least_and_place(jnp.where(can_be_met, root(cubic, rounding), jnp.inf))


def _redirected(
    trajectory: Trajectory,
    step: StepData,
    fraction: Float[Array, " c"],
    there: Point,
    decision: Decision,
) -> Trajectory:
    """The rest of the step after the event.

    The end moves by the difference of two integrations of the one neuron, with the
    new and the old moments: what the frozen step knows better than they is kept.
    """
    data, sliding, plane = step.sample, trajectory.sliding, decision.plane
    moment_start = trajectory.moment_start - decision.moment_loss(step.pull_start, step)
    moment_end = trajectory.moment_end - decision.moment_loss(step.pull_end, step)
    old_normals = sliding_normals(data.normal, sliding.plane)
    new_plane, has_no_slot = sliding_after(sliding.plane, decision)
    normals = sliding_normals(data.normal, new_plane)
    dual = dual_basis(normals)
    left = (1 - fraction) * step.length
    before = mix(fraction, trajectory.moment_start, trajectory.moment_end)
    old = displacement(
        there, before, trajectory.moment_end, left, old_normals, sliding.dual, data
    )
    now = mix(fraction, moment_start, moment_end)
    new = displacement(there, now, moment_end, left, normals, dual, data)
    w1 = project(trajectory.end.w + new[0] - old[0], normals, dual)
    w1, lost = _kept_on_side(w1, trajectory.is_above, decision, normals, dual, data)
    a1 = trajectory.end.a + new[1] - old[1]
    w0 = project(there.w, normals, dual)
    shift = norm_of_rows(new[0] - old[0]) + lost
    jump = jumps_at(there.a, jnp.maximum(new_plane, 0), fraction, step)
    drive = jnp.sum(there.a[:, :, None] * now, axis=1)
    below, above, _ = normal_speeds(drive, jump, dual)
    is_above = decision.sides(trajectory.is_above, data.planes)
    leaves = decision.is_used[:, :-1] & ~decision.is_kept
    released = jnp.sum(leaves, axis=1)
    events = trajectory.events
    if events is not None:
        met = kinds_at(
            decision.side_change[:, -1:] > 0, decision.starts_sliding[:, None]
        )
        met = jnp.where(decision.stays[:, None], 0, met)
        left_planes = kinds_of_leaving(decision.side_change[:, :-1] > 0, leaves)
        kinds = jnp.concatenate([left_planes, met], axis=1)
        events = events.noted(fraction, plane, kinds)
    return Trajectory(
        fraction=fraction,
        start=point(w0, there.a, now, normals, dual, data),
        end=point(w1, a1, moment_end, normals, dual, data),
        is_above=is_above,
        sliding=Sliding(
            plane=new_plane,
            dual=dual,
            speed_below=below,
            speed_above=above,
            excursion=jnp.where(decision.is_kept, sliding.excursion, 0),
        ),
        moment_start=moment_start,
        moment_end=moment_end,
        shift=trajectory.shift + shift,
        remaining_shift=trajectory.remaining_shift + shift * (1 - fraction),
        event_count=trajectory.event_count + 1,
        crossings=trajectory.crossings
        + (~decision.starts_sliding & ~decision.stays).astype(jnp.int32),
        slides=trajectory.slides + decision.starts_sliding.astype(jnp.int32),
        released=trajectory.released + released.astype(jnp.int32),
        nonunique_events=trajectory.nonunique_events,
        has_no_slot=trajectory.has_no_slot | has_no_slot,
        is_pending=trajectory.is_pending,
        events=events,
    )


def _kept_on_side(
    w: Float[Array, "c e"],
    is_above: Bool[Array, "c n"],
    decision: Decision,
    normals: Float[Array, "c p e"],
    dual: Float[Array, "c p e"],
    data: Sample,
) -> tuple[Float[Array, "c e"], Float[Array, " c"]]:
    """The end of a neuron that stays, no further than the plane, and what it lost."""
    k = decision.plane[:, -1:]
    normal = data.normal[k[:, 0]]
    side = jnp.where(jnp.take_along_axis(is_above, k, axis=1)[:, 0], 1, -1)
    height = side * jnp.sum(normal * w, axis=1)
    along = project(normal, normals, dual)
    square = jnp.sum(along**2, axis=1)
    is_over = decision.stays & (height < 0) & (square > 0)
    back = jnp.where(is_over, -side * height / jnp.where(square > 0, square, 1), 0)
    return w + back[:, None] * along, jnp.abs(back) * jnp.sqrt(square)


def _distances(
    trajectory: Trajectory, step: StepData
) -> tuple[Cubic, Float[Array, ""]]:
    """w·u on the rest of the step in units of |w|, and below what it has no sign.

    Positive on the side that the neuron is on.  The rounding is relative to |w| or to
    the displacement that the neuron would have without sliding, whichever is larger.
    """
    start, end = trajectory.start, trajectory.end
    left = ((1 - trajectory.fraction) * step.length)[:, None]
    drive = left * jnp.sum(start.a[:, :, None] * trajectory.moment_start, axis=1)
    size = largest_of_rows(start.w, end.w, drive)[:, None]
    unit = jnp.where(size > 0, size, 1)
    side = jnp.where(trajectory.is_above, 1, -1).astype(left.dtype)
    along = lambda v: side * matmul(v / unit, step.sample.normal.T)
    cubic = Cubic(
        along(start.w), along(left * start.dw), along(end.w), along(left * end.dw)
    )
    return cubic, rounding(unit)
