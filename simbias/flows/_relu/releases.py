"""Neurons that leave the hyperplanes they slide on."""

from dataclasses import replace
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.masked_rows import on_wanted_rows, pack_rows, with_flips
from simbias.flows._relu.sliding import (
    dual_basis,
    jumps,
    moment_loss,
    normal_speeds,
    project,
    sliding_normals,
)
from simbias.flows._relu.step_trajectory import Sliding
from simbias.flows._relu.subgradient import box_least_norm
from simbias.numerics.precision import matmul

# A neuron that is let go may come to lie behind planes by so many times the tolerance.
_BEYOND = 2.0


class EndState(NamedTuple):
    """Every neuron at the end of a step, with the moment of the field there.

    `overshoots` says that catching up with its excursion carried it across planes.
    """

    w: Float[Array, "c e"]
    a: Float[Array, "c k"]
    moment: Float[Array, "c k e"]
    is_above: Bool[Array, "c n"]
    sliding: Sliding
    released: Int[Array, " c"]
    nonunique_events: Int[Array, " c"]
    overshoots: Bool[Array, " c"]


def release(
    end: EndState,
    sample: Sample,
    pull: Float[Array, "n k"],
    length: Float[Array, ""],
    slope: float,
    tolerance: Float[Array, " c"],
    rows: int,
    follow_own_events: Bool[Array, " c"] | None,
) -> EndState:
    """Let go of neurons whose sliding no longer holds.

    A neuron whose escape speed from a plane points away still slides at first.  The
    distance it would have gone, its excursion, is summed up, and returns to 0 if the
    speed changes sign: so residuals that oscillate within the tolerance do not release
    neurons and catch them again.  Once the excursion exceeds the tolerance the neuron
    is put there.  The box-constrained subgradient over all planes it slides on says
    which of them it leaves, and to which side.

    Args:
        end: the neurons; `sliding` still has the speeds at the start of the step.
        sample: the data.
        pull: of the planes at the end of the step, see `Sample.pulls`.
        length: of the step.
        slope: negative slope of the activation.
        tolerance: how far each neuron may be from where it should be.
        rows: how many neurons are let go at a time.
        follow_own_events: neurons that may be let go by themselves; None is all.
    """
    end, is_due = _excursions(end, pull, length, slope, tolerance)
    if follow_own_events is not None:
        excursion = jnp.where(follow_own_events[:, None], end.sliding.excursion, 0)
        end = end._replace(sliding=replace(end.sliding, excursion=excursion))
        is_due &= follow_own_events

    def let_go(context, due):
        end, is_due, tolerance = due
        sample, pull, length = context
        end = _let_go(end, sample, pull, length, slope, tolerance)
        return end, jnp.zeros_like(is_due), tolerance

    context = (sample, pull, length)
    every = pack_rows((end, is_due, tolerance))
    return on_wanted_rows(let_go, lambda v: v[1], context, every, rows).tree[0]


def _excursions(
    end: EndState,
    pull: Float[Array, "n k"],
    length: Float[Array, ""],
    slope: float,
    tolerance: Float[Array, " c"],
) -> tuple[EndState, Bool[Array, " c"]]:
    sliding = end.sliding
    jump = _jumps_of_sliding(end, pull, slope)
    drive = jnp.sum(end.a[:, :, None] * end.moment, axis=1)
    below, above, room = normal_speeds(drive, jump, sliding.dual)
    up = _travelled(sliding.excursion, sliding.speed_above, above, length)
    down = _travelled(-sliding.excursion, -sliding.speed_below, -below, length)
    leaves_up = (above > 0) & (above >= -below)
    is_up = (sliding.excursion > 0) | ((sliding.excursion == 0) & leaves_up)
    is_down = (sliding.excursion < 0) | ((sliding.excursion == 0) & ~leaves_up)
    excursion = jnp.where(is_up, up, jnp.where(is_down, -down, 0))
    leaves = jnp.where(excursion > 0, above > 0, below < 0) & (room > 0)
    is_far = jnp.abs(excursion) > tolerance[:, None] * jnp.sqrt(room)
    # Its speed below the plane is 0: it has died there, and is let go.
    is_tie = (room > 0) & (below == 0) & (above <= 0)
    is_due = jnp.any(leaves & is_far & (excursion != 0) | is_tie, axis=1)
    sliding = Sliding(sliding.plane, sliding.dual, below, above, excursion)
    return end._replace(sliding=sliding), is_due


def _travelled(
    distance: Float[Array, "c p"],
    before: Float[Array, "c p"],
    after: Float[Array, "c p"],
    length: Float[Array, ""],
) -> Float[Array, "c p"]:
    """Distance after a step at a speed linear in time; a rest ends when it is > 0."""
    sets_off = (distance <= 0) & (before < 0)
    gap = jnp.where(after > before, after - before, 1)
    part = jnp.where(sets_off, jnp.maximum(after, 0) ** 2 / gap, before + after)
    return jnp.maximum(jnp.maximum(distance, 0) + length / 2 * part, 0)


def _let_go(
    end: EndState,
    sample: Sample,
    pull: Float[Array, "n k"],
    length: Float[Array, ""],
    slope: float,
    tolerance: Float[Array, " c"],
) -> EndState:
    sliding = end.sliding
    normals = sliding_normals(sample.normal, sliding.plane)
    is_sliding = sliding.plane >= 0
    jump = _jumps_of_sliding(end, pull, slope)
    drive = jnp.sum(end.a[:, :, None] * end.moment, axis=1)
    verdict = box_least_norm(normals, drive, jnp.maximum(-jump, 0), is_sliding)
    # A kink that has turned concave cannot hold, and both sides are solutions: to that
    # of the greater speed.
    is_concave = is_sliding & (jump > 0)
    side = jnp.where(sliding.speed_above >= -sliding.speed_below, 1, -1)
    verdict = jnp.where(is_concave, side, verdict)
    stays = is_sliding & (verdict == 0)
    leaves = is_sliding & (verdict != 0)
    index = jnp.maximum(sliding.plane, 0)
    goes_up = leaves & (verdict > 0)
    moment = end.moment - moment_loss(goes_up, pull[index], normals, slope)
    kept = jnp.where(stays, sliding.plane, -1)
    new_normals = sliding_normals(sample.normal, kept)
    dual = dual_basis(new_normals)
    # It has been leaving for a while: catch up with the distance noted.
    new_drive = jnp.sum(end.a[:, :, None] * moment, axis=1)
    ahead = project(new_drive, new_normals, dual) - project(
        drive, normals, sliding.dual
    )
    speed = jnp.sum(normals * ahead[:, None, :], axis=2)
    goes_along = leaves & (speed * sliding.excursion > 0)
    time = jnp.where(goes_along, sliding.excursion / jnp.where(goes_along, speed, 1), 0)
    time = jnp.max(jnp.minimum(time, length), axis=1)
    w = project(end.w + time[:, None] * ahead, new_normals, dual)
    jump = jnp.where(stays, jump, 0)
    below, above, _ = normal_speeds(new_drive, jump, dual)
    flips = jnp.where(leaves, verdict, 0)
    is_above = with_flips(end.is_above, index, flips, sample.planes.first)
    sliding = Sliding(kept, dual, below, above, jnp.where(stays, sliding.excursion, 0))
    count = lambda condition: jnp.sum(condition, axis=1).astype(jnp.int32)
    released = end.released + count(leaves)
    nonunique_events = end.nonunique_events + count(is_concave)
    height = jnp.where(is_above, 1, -1).astype(w.dtype) * matmul(w, sample.normal.T)
    overshoots = jnp.any(height < -_BEYOND * tolerance[:, None], axis=1)
    return EndState(
        w, end.a, moment, is_above, sliding, released, nonunique_events, overshoots
    )


def _jumps_of_sliding(
    end: EndState, pull: Float[Array, "n k"], slope: float
) -> Float[Array, "c p"]:
    sliding = end.sliding.plane
    jump = jumps(end.a, pull[jnp.maximum(sliding, 0)], slope)
    return jnp.where(sliding >= 0, jump, 0)
