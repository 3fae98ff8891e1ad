"""Neurons under constant residuals, on straight lines from plane to plane."""

import functools
import operator
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.masked_rows import least_and_place
from simbias.flows._relu.noninteracting.batched_crossings import FIRST, in_batches
from simbias.flows._relu.noninteracting.moving import (
    Moving,
    SlidingPlanes,
    chosen,
    line_of,
    most_events,
    slack_of,
    sliding_planes,
    velocity_of,
)
from simbias.flows._relu.sliding import is_attracting, jumps, normal_speeds
from simbias.flows._relu.step_trajectory import StepData, Trajectory
from simbias.numerics.conditionals import repeat_while, when
from simbias.numerics.precision import matmul

# Sums over so few coordinates are written out: one pass with what follows them.
_UNROLLED = 8
# From so many planes on a few candidates are looked at in place of all of them:
# the nearest of each of some groups, which hold while V turns by this share.
_MANY, _GROUP, _DRIFT = 1024, 16, 0.02
# From so many on a single jump is so small that batches pay.
_BATCHES = 2048


class _Look(eqx.Module):
    """Planes that may be met, for each neuron its own or for all the same (b = 1).

    `moment_jump` is (1 − s) R, what M loses along u upwards.  `until` is the τ up to
    which no other plane can be met, as long as V is within `drift` of `velocity`.
    """

    normal: Float[Array, "e b s"]
    moment_jump: Float[Array, "b s"]
    velocity: Float[Array, "c e"]
    drift: Float[Array, " c"]
    until: Float[Array, " c"]


def cross_planes(
    step: StepData, carry: tuple[Trajectory, Bool[Array, " c"]]
) -> tuple[Trajectory, Bool[Array, " c"]]:
    """Some neurons, each up to the end or to a plane that it may not just cross."""
    trajectory, _ = carry
    none = jnp.zeros_like(trajectory.is_pending)
    moving = Moving(
        trajectory.start.w, trajectory.start.a[:, 0],
        trajectory.moment_start[:, 0], trajectory.fraction,
        trajectory.is_above, trajectory.event_count, trajectory.crossings,
        jnp.zeros_like(trajectory.fraction), trajectory.is_pending, none,
        jnp.full_like(trajectory.fraction, FIRST),
        jnp.zeros_like(trajectory.event_count), jnp.ones_like(trajectory.event_count),
    )  # fmt: skip
    sliding = sliding_planes(trajectory.sliding, step)
    is_many = step.sample.x.shape[0] >= _MANY
    arrays, static = eqx.partition(step, eqx.is_array)

    def body(context, moving):
        arrays, sliding = context
        step = eqx.combine(arrays, static)
        if is_many:
            if step.sample.x.shape[0] >= _BATCHES:
                moving = in_batches(moving, sliding, step)
            return _over_the_nearest(moving, sliding, step)
        return _across(moving, _at_all(moving, sliding, step), sliding, step)

    goes = lambda moving: jnp.any(moving.goes)
    moving = repeat_while(goes, body)((arrays, sliding), moving)
    moment = moving.moment[:, None]
    trajectory = replace(
        trajectory,
        fraction=moving.fraction,
        start=trajectory.start._replace(w=moving.w, a=moving.a[:, None]),
        is_above=moving.is_above,
        moment_start=moment,
        moment_end=moment,
        event_count=moving.event_count,
        crossings=moving.crossings,
        is_pending=trajectory.is_pending & moving.is_held_up,
    )
    return trajectory, moving.is_held_up


def next_plane(
    w: Float[Array, "c e"],
    velocity: Float[Array, "c e"],
    is_above: Bool[Array, "c s"],
    normal: Float[Array, "e b s"],
    slack: Float[Array, ""],
) -> tuple[Float[Array, " c"], Int[Array, " c"]]:
    """The τ at which the next plane is met, infinite if none is, and which it is.

    Planes parallel to the motion are excluded, among them those that the neuron slides
    or rests on.
    """
    side = jnp.where(is_above, 1, -1).astype(w.dtype)
    height = side * _along(w, normal)
    closing = -side * _along(velocity, normal)
    comes = closing > slack
    tau = jnp.maximum(height, 0) / jnp.where(comes, closing, 1)
    return least_and_place(jnp.where(comes, tau, jnp.inf))


def _at_all(moving: Moving, sliding: SlidingPlanes, step: StepData) -> _Look:
    velocity = velocity_of(moving.moment, moving.a, sliding)
    ever = jnp.full_like(moving.a, jnp.inf)
    moment_jump = (1 - step.slope) * step.pull_start[:, 0]
    normal = step.sample.normal.T[:, None]
    return _Look(normal, moment_jump[None], velocity, ever, ever)


def _over_the_nearest(moving: Moving, sliding: SlidingPlanes, step: StepData) -> Moving:
    """Over the planes that come first in their group.

    It ends when a group's second-nearest plane could be reached.  Between two looks at
    all planes some ten are crossed.
    """
    n = step.sample.x.shape[0]
    groups = -(-n // _GROUP)
    look, at = _nearest(moving, sliding, step, groups)
    sides = moving.is_above
    group_sides = jnp.take_along_axis(sides, at, axis=1, mode="clip")
    here = replace(moving, is_above=group_sides, tau=jnp.zeros_like(moving.tau))
    arrays, static = eqx.partition(step, eqx.is_array)

    def body(context, moving):
        arrays, look, sliding = context
        return _across(moving, look, sliding, eqx.combine(arrays, static))

    goes = lambda moving: jnp.any(moving.goes)
    there = repeat_while(goes, body)((arrays, look, sliding), here)
    row = jnp.arange(at.shape[0], dtype=jnp.int32)[:, None]
    is_above = sides.at[row, at].set(there.is_above, mode="drop")
    goes = moving.goes & (there.fraction < 1) & ~there.is_held_up
    # Where nothing was met it is not known when something will be: a look at all tells.
    is_stuck = goes & (there.event_count == moving.event_count)
    there = replace(there, is_above=is_above, goes=is_stuck)

    def at_all(context, moving):
        arrays, sliding = context
        step = eqx.combine(arrays, static)
        return _across(moving, _at_all(moving, sliding, step), sliding, step)

    there = when(at_all)(jnp.any(is_stuck), (arrays, sliding), there)
    waits = jnp.maximum(there.waits - 1, 0)
    goes = jnp.where(is_stuck, there.goes, goes)
    return replace(there, goes=goes, waits=waits)


def _nearest(
    moving: Moving, sliding: SlidingPlanes, step: StepData, groups: int
) -> tuple[_Look, Int[Array, "c g"]]:
    """The plane of each group that may be met first; beyond n are none."""
    data, gap = step.sample, groups * _GROUP - step.sample.x.shape[0]
    normal = jnp.pad(data.normal.T, ((0, 0), (0, gap)))
    moment_jump = jnp.pad((1 - step.slope) * step.pull_start[:, 0], (0, gap))
    is_above = jnp.pad(moving.is_above, ((0, 0), (0, gap)))
    velocity = velocity_of(moving.moment, moving.a, sliding)
    drift = _DRIFT * jnp.sqrt(jnp.sum(velocity**2, axis=1))
    side = jnp.where(is_above, 1, -1).astype(velocity.dtype)
    height = side * _along(moving.w, normal[:, None])
    closing = drift[:, None] - side * _along(velocity, normal[:, None])
    # Rows that are no plane, as those that fill an array up, are at height 0 for ever.
    is_plane = jnp.any(normal != 0, axis=0)[None, :]
    comes = is_plane & (closing > slack_of(step))
    tau = jnp.maximum(height, 0) / jnp.where(comes, closing, 1)
    tau = jnp.where(comes, tau, jnp.inf).reshape(-1, _GROUP, groups)
    row = jax.lax.broadcasted_iota(jnp.int32, tau.shape, 1)
    first = jnp.min(tau, axis=1, keepdims=True)
    place = jnp.max(jnp.where(tau == first, row, 0), axis=1)
    second = jnp.where(row == place[:, None, :], jnp.inf, tau)
    until = jnp.min(second, axis=(1, 2))
    at = place * groups + jnp.arange(groups, dtype=jnp.int32)[None, :]
    return _Look(normal[:, at], moment_jump[at], velocity, drift, until), at


def _across(
    moving: Moving, look: _Look, sliding: SlidingPlanes, step: StepData
) -> Moving:
    """To the next plane and over it, unless sliding would not hold beyond it."""
    sign, slack = jnp.sign(moving.a), slack_of(step)
    velocity = velocity_of(moving.moment, moving.a, sliding)
    tau, k = next_plane(moving.w, velocity, moving.is_above, look.normal, slack)
    room = look.until - moving.tau
    meets = tau <= room
    tau = jnp.minimum(tau, room)
    line = line_of(moving.w, jnp.abs(moving.a), velocity)
    left = (1 - moving.fraction) * step.length
    spent = line.time(tau)
    arrives = spent >= left
    last_w, last_a = line.after(left)
    tau = jnp.where(arrives, 0, tau)
    w = jnp.where(arrives[:, None], last_w, moving.w + tau[:, None] * velocity)
    a = sign * jnp.where(arrives, last_a, line.size_at(line.p + tau * line.speed))

    was_above = jnp.take_along_axis(moving.is_above, k[:, None], axis=1)[:, 0]
    side_change = jnp.where(was_above, -1, 1).astype(w.dtype)
    each = jnp.arange(k.shape[0])
    own = each if look.moment_jump.shape[0] > 1 else 0
    normal, moment_jump = look.normal[:, own, k].T, look.moment_jump[own, k]
    moment = moving.moment - (side_change * moment_jump)[:, None] * normal
    beyond = velocity_of(moment, moving.a, sliding)
    goes_on = side_change * jnp.sum(beyond * normal, axis=1) > slack
    holds = _sliding_holds(
        sign[:, None] * moment, sign, sliding.plane, sliding.dual, step
    )
    can_cross = goes_on & holds & (moving.event_count < most_events(step))
    turned = jnp.sqrt(jnp.sum((beyond - look.velocity) ** 2, axis=1)) > look.drift

    goes = moving.goes
    crosses = goes & meets & ~arrives & can_cross
    fraction = jnp.where(arrives, 1, moving.fraction + spent / step.length)
    one = crosses.astype(jnp.int32)
    return Moving(
        w=chosen(goes, w, moving.w),
        a=chosen(goes, a, moving.a),
        moment=chosen(crosses, moment, moving.moment),
        fraction=chosen(goes, fraction, moving.fraction),
        is_above=moving.is_above.at[each, k].set(was_above ^ crosses),
        event_count=moving.event_count + one,
        crossings=moving.crossings + one,
        tau=chosen(goes, moving.tau + tau, moving.tau),
        goes=crosses & ~turned,
        is_held_up=moving.is_held_up | goes & meets & ~arrives & ~can_cross,
        share=moving.share,
        waits=moving.waits,
        patience=moving.patience,
    )


def _along(
    vector: Float[Array, "c e"], normal: Float[Array, "e b s"]
) -> Float[Array, "c s"]:
    """v·u for every plane that is looked at."""
    e, c, _ = normal.shape
    if c == 1 and e > _UNROLLED:
        return matmul(vector, normal[:, 0])
    products = [vector[:, i, None] * normal[i] for i in range(e)]
    return functools.reduce(operator.add, products)


def _sliding_holds(
    drive: Float[Array, "c e"],
    sign: Float[Array, " c"],
    plane: Int[Array, "c p"],
    dual: Float[Array, "c p e"],
    step: StepData,
) -> Bool[Array, " c"]:
    """Whether a neuron goes on sliding on all its planes under a new drive, per |a|."""
    pull = step.pull_start[jnp.maximum(plane, 0)]
    below, above, _ = normal_speeds(drive, jumps(sign[:, None], pull, step.slope), dual)
    slack = slack_of(step)
    return jnp.all((plane < 0) | is_attracting(below, above, slack), axis=1)
