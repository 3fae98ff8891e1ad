"""What a neuron does where it meets a data hyperplane: cross it, slide or stay."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.masked_rows import contains, least_and_place, with_flips
from simbias.flows._relu.single_neuron import Point, mix
from simbias.flows._relu.sliding import (
    dual_basis,
    jumps,
    moment_loss,
    project,
    sliding_normals,
)
from simbias.flows._relu.step_trajectory import StepData, Trajectory
from simbias.flows._relu.subgradient import box_least_norm
from simbias.numerics.planes import Planes
from simbias.numerics.precision import matmul

# Inputs of so few entries: all pairs of them are fewer than entries of all normals.
_SHORT = 8


def first_plane(
    trajectory: Trajectory,
    step: StepData,
    k: Int[Array, " c"],
    fraction: Float[Array, " c"],
    there: Point,
) -> tuple[Int[Array, " c"], Bool[Array, " c"]]:
    """Which of the planes that are met at once comes first, and whether it is a choice.

    A sliding neuron meets all planes together whose normals depend on those of k and of
    what it slides on (x₁, x₂ and x₁ + x₂, say).  On concave ones it cannot stop, so it
    crosses them before it is asked whether it stops on a convex one; once it has, it
    does not meet them any more.

    That is a choice where a concave one is met together with others: a neuron that
    slides to w = 0, where all planes meet, may leave along any of several of them.
    """
    sliding, unit = trajectory.sliding.plane, step.sample.normal
    planes = jnp.concatenate([sliding, k[:, None]], axis=1)
    normals = sliding_normals(unit, planes)
    along = lambda v: matmul(v, unit.T)
    is_dependent = 1 - _share_in_span(normals, unit) < _dependence(unit)
    is_plane = step.sample.is_plane()[None, :]
    can_be_met = is_plane & ~contains(planes, step.sample.planes.first)
    side = jnp.where(trajectory.is_above, 1, -1)
    approach = -side * along(trajectory.end.w - there.w)
    every = jnp.broadcast_to(jnp.arange(unit.shape[0])[None, :], approach.shape)
    is_concave = jumps_at(there.a, every, fraction, step) > 0
    is_met = is_dependent & can_be_met & (approach > 0)
    least, first = least_and_place(jnp.where(is_met & is_concave, -approach, 0))
    is_changed = jnp.any(sliding >= 0, axis=1) & (least < 0)
    is_choice = is_changed & (jnp.sum(is_met, axis=1) > 1)
    return jnp.where(is_changed, first, k), is_choice


class Decision(NamedTuple):
    """What is decided where a neuron meets a hyperplane; s = p slid on, and k."""

    plane: Int[Array, "c s"]
    is_used: Bool[Array, "c s"]
    side_change: Int[Array, "c s"]
    is_kept: Bool[Array, "c p"]
    starts_sliding: Bool[Array, " c"]
    stays: Bool[Array, " c"]

    def moment_loss(
        self, pull: Float[Array, "n k"], step: StepData
    ) -> Float[Array, "c k e"]:
        """What the moment loses by the planes that change sides."""
        normals = step.sample.normal[self.plane]
        return moment_loss(self.side_change, pull[self.plane], normals, step.slope)

    def sides(self, is_above: Bool[Array, "c n"], planes: Planes) -> Bool[Array, "c n"]:
        """Those of all planes afterwards."""
        return with_flips(is_above, self.plane, self.side_change, planes.first)


def decide(
    trajectory: Trajectory,
    step: StepData,
    k: Int[Array, " c"],
    fraction: Float[Array, " c"],
    there: Point,
) -> Decision:
    """Cross, slide or stay, by the least subgradient over k and all planes slid on.

    A concave kink (the speed of w·u grows above it) is always crossed; only the planes
    it slides on are decided anew, with k on its new side.  At a convex kink it slides
    if both sides push it back.  If the least subgradient points to the side where the
    neuron is, the neuron stays on that side, at the plane; so does one that has just
    died there.
    """
    sliding, data = trajectory.sliding, step.sample
    plane = jnp.concatenate([sliding.plane, k[:, None]], axis=1)
    is_used = plane >= 0
    plane = jnp.maximum(plane, 0)
    normals = jnp.where(is_used[:, :, None], data.normal[plane], 0)
    jump = jumps_at(there.a, plane, fraction, step)
    was_above = jnp.take_along_axis(trajectory.is_above, k[:, None], axis=1)[:, 0]
    moment = mix(fraction, trajectory.moment_start, trajectory.moment_end)
    drive = jnp.sum(there.a[:, :, None] * moment, axis=1)
    normal = normals[:, -1]
    to_self = project(normal, normals[:, :-1], sliding.dual)
    is_independent = jnp.sum(to_self**2, axis=1) > _dependence(drive)
    can_slide = (jump[:, -1] < 0) & is_independent
    # The neuron counts as below k if it can slide, as across if not.
    change = jnp.where(was_above, -1.0, jnp.where(can_slide, 0.0, 1.0))
    change = change.astype(drive.dtype)
    drive = drive + (change * jump[:, -1])[:, None] * normal
    is_undecided = is_used.at[:, -1].set(can_slide)
    verdict = box_least_norm(normals, drive, jnp.maximum(-jump, 0), is_undecided)
    starts_sliding = can_slide & (verdict[:, -1] == 0)
    stays = can_slide & (verdict[:, -1] == jnp.where(was_above, 1, -1))
    side_change = (is_used & (verdict > 0)).astype(jnp.int32)
    # A sliding neuron counts as below.
    across = jnp.where(was_above, -1, jnp.where(starts_sliding, 0, 1))
    here = jnp.where(stays, 0, across).astype(jnp.int32)
    return Decision(
        plane=plane,
        is_used=is_used,
        side_change=side_change.at[:, -1].set(here),
        is_kept=is_used[:, :-1] & (verdict[:, :-1] == 0),
        starts_sliding=starts_sliding,
        stays=stays,
    )


def sliding_after(
    plane: Int[Array, "c p"], decision: Decision
) -> tuple[Int[Array, "c p"], Bool[Array, " c"]]:
    """The planes that neurons slide on now, and whether one found no slot."""
    plane = jnp.where(decision.is_kept, plane, -1)
    has_no_slot = decision.starts_sliding & jnp.all(plane >= 0, axis=1)
    room = jnp.arange(plane.shape[1])[None, :] == jnp.argmin(plane, 1)[:, None]
    takes = room & (decision.starts_sliding & ~has_no_slot)[:, None]
    return jnp.where(takes, decision.plane[:, -1:], plane), has_no_slot


def jumps_at(
    a: Float[Array, "c k"],
    plane: Int[Array, "c s"],
    fraction: Float[Array, " c"],
    step: StepData,
) -> Float[Array, "c s"]:
    """`jumps` of planes at a fraction of the step, residuals linear in time."""
    t = fraction[:, None, None]
    pull = (1 - t) * step.pull_start[plane] + t * step.pull_end[plane]
    return jumps(a, pull, step.slope)


def _share_in_span(
    normals: Float[Array, "c s e"], unit: Float[Array, "n e"]
) -> Float[Array, "c n"]:
    """uᵀPu for unit vectors u, P the projection onto the span of some normals."""
    dual = dual_basis(normals)
    if unit.shape[1] > _SHORT:
        along = lambda v: matmul(v, unit.T)
        return jnp.sum(along(normals) * along(dual), axis=1)
    # One product for all normals: Σᵢⱼ Pᵢⱼ uᵢuⱼ, the pairs side by side.
    pairs = lambda v, w: (v[..., :, None] * w[..., None, :]).reshape(*v.shape[:-1], -1)
    return matmul(jnp.sum(pairs(dual, normals), axis=1), pairs(unit, unit).T)


def _dependence(like: Float[Array, "..."]) -> Float[Array, ""]:
    """Squared distance of a unit normal from the span of others that is none."""
    return jnp.asarray(jnp.finfo(like.dtype).eps ** 0.75, like.dtype)
