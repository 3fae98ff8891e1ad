"""Neurons that do not interact yet, each integrated by itself, exactly.

While f is nearly 0 the residuals are constant, and so is the moment M of every
activation pattern.  In the time τ with dτ = |a| dt the input weights of a neuron then
move on straight lines from one hyperplane to the next,

    dw/dτ = V,  V = sign(a) P M,

and along each of them, with p = w·V/|V|, whose rest w⊥ stays,

    p' = |V| |a|,  |a|' = |V| p,  hence  |a| ± p ∝ e^{±|V| t}.

No step is bounded by what a neuron crosses, and none by its size: networks that start
at 1e-270 wait no longer than others.  Expects one output and |a| ≥ |w|, which the flow
keeps: then a has one sign for ever.

With a weight decay μ the solution is e^{−μt} times that without: the field is linear in
the size of a neuron, and the decay turns none.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._relu.clearance import clearance_anew
from simbias.flows._relu.event_rules import decide, first_plane, sliding_after
from simbias.flows._relu.frozen_field import Sample, neuron_decay
from simbias.flows._relu.masked_rows import (
    on_some_rows,
    on_wanted_rows,
    pack_rows,
    rows_at_once,
)
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.noninteracting.moving import (
    line_of,
    most_events,
    slack_of,
    sliding_planes,
    velocity_of,
)
from simbias.flows._relu.noninteracting.straight_lines import cross_planes, next_plane
from simbias.flows._relu.norms import direction_change, norm_of_rows, rounding
from simbias.flows._relu.single_neuron import Point
from simbias.flows._relu.sliding import (
    dual_basis,
    jumps,
    normal_speeds,
    project,
    sliding_normals,
)
from simbias.flows._relu.step_trajectory import Sliding, StepData, Trajectory
from simbias.numerics.conditionals import repeat_while

# Share of the tolerance that the residuals may use up in a step.
_SHARE = 0.5
# One step takes this part of that time: neurons turn to where they grow faster.
_PART = 0.6
# What |a| may have lost against |w| by roundings of all planes that were crossed.
_LOST = 32
# Growth of a neuron in one step, as an exponent: squares must not overflow.
_LONGEST = 300.0
# Numbers of one array of some neurons and all planes: many of them fit the cache.
_NUMBERS = 2**14


def may_be_noninteracting(sample: Sample) -> bool:
    """Whether such steps are known for networks on a sample like this at all."""
    return sample.y.shape[1] == 1 and not sample.is_output_frozen


def noninteracting_length(
    neurons: NeuronState, sample: Sample, rtol: Float[Array, ""]
) -> Float[Array, ""]:
    """Time for which residuals are constant to the tolerance; 0 if they are not.

    |f| ≤ |x| S with S = Σ |a| |w|, which grows at most as e^{2vt}, v the largest |M|.
    What that changes in the residuals, by their slope at f = 0, moves a neuron by less
    than its share of `rtol` as long as Σ |x|² |r'(0)| S ≤ 2 v c rtol, c = `_SHARE`.
    """
    w, a = norm_of_rows(neurons.w), norm_of_rows(neurons.a)
    unit = jnp.maximum(jnp.max(w), jnp.max(a))
    unit = jnp.where(unit > 0, unit, 1)
    size = jnp.sum((w / unit) * (a / unit))
    at_zero = jnp.zeros_like(sample.y)
    _, slope = jax.jvp(sample.residual, (at_zero,), (jnp.ones_like(at_zero),))
    sensitivity = jnp.sum(jnp.abs(slope[:, 0]) * sample.norm_x**2)
    speed = jnp.max(norm_of_rows(neurons.rates.moment[:, 0]))
    rest = jnp.log(2 * _SHARE * rtol * speed / sensitivity) - jnp.log(size)
    growth = _PART * (rest - 2 * jnp.log(unit))
    length = jnp.minimum(growth, 2 * _LONGEST) / (2 * speed)
    is_output_dominant = jnp.all(a >= (1 - _LOST * rounding(w)) * w)
    is_output_dominant &= (speed > 0) & jnp.isfinite(length)
    return jnp.where(is_output_dominant, jnp.maximum(length, 0), 0)


def lag_of_growth(
    neurons: NeuronState,
    length: Float[Array, ""],
    weight_decay: Float[Array, ""] | None = None,
) -> Float[Array, ""]:
    """∫ δ dt over a step divided by δ at its end, for δ ∝ e^{2(v − μ)t} − 1."""
    twice = 2 * jnp.max(norm_of_rows(neurons.rates.moment[:, 0]))
    if weight_decay is not None:
        twice = twice - 2 * weight_decay
    stretch = twice * length
    # Of either sign, with a decay that is faster than the growth.
    size = stretch if weight_decay is None else jnp.abs(stretch)
    grows = size > jnp.sqrt(jnp.finfo(length.dtype).eps)
    stretch = jnp.where(grows, stretch, 1)
    part = length * (1 / stretch - 1 / jnp.expm1(stretch))
    return jnp.where(grows, part, length / 2)


def follow_noninteracting(
    trajectory: Trajectory,
    step: StepData,
    is_wanted: Bool[Array, ""],
    clearance: Float[Array, " m"] | None,
) -> tuple[Trajectory, Float[Array, " m"] | None]:
    """Every neuron of a `trajectory` that has not begun, at the end of the step.

    Moves nothing unless `is_wanted`.

    Args:
        trajectory: the whole step, not begun.
        step: what all neurons share.
        is_wanted: whether any is moved.
        clearance: of each neuron, 0 where unknown.  Neurons that turn by less meet no
            plane.

    Returns:
        The trajectory, and the clearance at its end.
    """
    size = norm_of_rows(trajectory.start.w, trajectory.start.a)
    size = jnp.where(size > 0, size, 1)[:, None]
    w, a = trajectory.start.w / size, trajectory.start.a / size
    a = jnp.sign(a) * jnp.maximum(jnp.abs(a), norm_of_rows(w)[:, None])
    start = trajectory.start._replace(w=w, a=a)
    moves = jnp.any(trajectory.start.a != 0, axis=1) & is_wanted
    fraction = jnp.where(moves, trajectory.fraction, 1)
    trajectory = replace(trajectory, fraction=fraction, start=start, is_pending=moves)
    meets = moves
    if clearance is not None:
        trajectory, clearance = _without_planes(trajectory, step, clearance)
        meets = trajectory.is_pending
    n, m = step.sample.x.shape[0], size.shape[0]
    rows = rows_at_once(m, n, _NUMBERS)
    arrays, static = eqx.partition(step, eqx.is_array)

    def body(arrays, every):
        step = eqx.combine(arrays, static)
        goes = lambda carry: carry[0].is_pending & ~carry[1]
        every = on_wanted_rows(cross_planes, goes, step, every, rows)
        trajectory, is_held_up = every.tree
        treat = lambda some: _decided(step, some)
        return on_some_rows(treat, every, trajectory.is_pending & is_held_up, rows)

    more = lambda every: jnp.any(every.tree[0].is_pending)
    every = pack_rows((trajectory, jnp.zeros_like(moves)))
    trajectory, _ = repeat_while(more, body)(arrays, every).tree
    trajectory = _arrived(trajectory, step, size)
    if clearance is not None:
        clearance = clearance_anew(trajectory, step, clearance, meets)
    return trajectory, clearance


def _without_planes(
    trajectory: Trajectory, step: StepData, clearance: Float[Array, " m"]
) -> tuple[Trajectory, Float[Array, " m"]]:
    """Neurons that turn by less than their clearance, at the end of their line."""
    start, a = trajectory.start, trajectory.start.a[:, 0]
    sliding = sliding_planes(trajectory.sliding, step)
    velocity = velocity_of(trajectory.moment_start[:, 0], a, sliding)
    w, size = line_of(start.w, jnp.abs(a), velocity).after(step.length)
    turned = direction_change(start.w, w)
    is_clear = trajectory.is_pending & (turned + rounding(clearance) < clearance)
    move = lambda new, old: jnp.where(is_clear[:, None], new, old)
    start = start._replace(
        w=move(w, start.w), a=move((jnp.sign(a) * size)[:, None], start.a)
    )
    rest = trajectory.is_pending & ~is_clear
    fraction = jnp.where(is_clear, 1, trajectory.fraction)
    trajectory = replace(trajectory, fraction=fraction, start=start, is_pending=rest)
    return trajectory, jnp.where(is_clear, clearance - turned, clearance)


def _decided(
    step: StepData, carry: tuple[Trajectory, Bool[Array, " c"]]
) -> tuple[Trajectory, Bool[Array, " c"]]:
    """Neurons at planes that they may not just cross: decide by all event rules."""
    trajectory, is_held_up = carry
    data, sliding, there = step.sample, trajectory.sliding, trajectory.start
    velocity = velocity_of(
        trajectory.moment_start[:, 0], there.a[:, 0], sliding_planes(sliding, step)
    )
    _, k = next_plane(
        there.w, velocity, trajectory.is_above, data.normal.T[:, None], slack_of(step)
    )
    ahead = replace(trajectory, end=trajectory.end._replace(w=there.w + velocity))
    k, is_choice = first_plane(ahead, step, k, trajectory.fraction, there)
    decision = decide(trajectory, step, k, trajectory.fraction, there)
    plane, has_no_slot = sliding_after(sliding.plane, decision)
    normals = sliding_normals(data.normal, plane)
    moment = trajectory.moment_start - decision.moment_loss(step.pull_start, step)
    released = decision.is_used[:, :-1] & ~decision.is_kept
    crosses = ~decision.starts_sliding & ~decision.stays
    dual = dual_basis(normals)
    count = lambda old, new: old + new.astype(old.dtype)
    new = replace(
        trajectory,
        start=there._replace(w=project(there.w, normals, dual)),
        is_above=decision.sides(trajectory.is_above, data.planes),
        sliding=replace(sliding, plane=plane, dual=dual),
        moment_start=moment,
        moment_end=moment,
        event_count=trajectory.event_count + 1,
        crossings=count(trajectory.crossings, crosses),
        slides=count(trajectory.slides, decision.starts_sliding),
        released=count(trajectory.released, jnp.sum(released, axis=1)),
        nonunique_events=count(trajectory.nonunique_events, is_choice),
        has_no_slot=trajectory.has_no_slot | has_no_slot,
        is_pending=trajectory.event_count < most_events(step),
    )
    return new, jnp.zeros_like(is_held_up)


def _arrived(
    trajectory: Trajectory, step: StepData, size: Float[Array, "c 1"]
) -> Trajectory:
    """The end in its own units, as every step has it; `fraction` < 1 if it is not."""
    data, sliding = step.sample, trajectory.sliding
    if data.weight_decay is not None:
        size = jnp.exp(-data.weight_decay * step.length) * size
    w, a = size * trajectory.start.w, size * trajectory.start.a
    normals = sliding_normals(data.normal, sliding.plane)
    drive = a * trajectory.moment_start[:, 0]
    pull = step.pull_end[jnp.maximum(sliding.plane, 0)]
    jump = jnp.where(sliding.plane >= 0, jumps(a, pull, step.slope), 0)
    below, above, _ = normal_speeds(drive, jump, sliding.dual)
    dw = project(drive, normals, sliding.dual)
    da = jnp.sum(trajectory.moment_start[:, 0] * w, axis=1, keepdims=True)
    dw, da = neuron_decay(dw, da, w, a, data)
    still = Sliding(sliding.plane, sliding.dual, below, above, jnp.zeros_like(below))
    end = Point(w, a, dw, da)
    # On the way only the first sample of each plane was kept right.  Row by row: XLA
    # would turn the whole array round to gather its columns, and again to go on.
    first = data.planes.first
    is_above = jax.lax.map(lambda side: side[first], trajectory.is_above)
    return replace(trajectory, start=end, end=end, sliding=still, is_above=is_above)
