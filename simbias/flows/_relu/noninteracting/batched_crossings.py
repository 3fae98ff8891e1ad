"""Many planes at once: neurons that cross so many that each bends their path little.

Under constant residuals the input weights of a neuron move, in the time τ of
`noninteracting`, with a velocity V.  It jumps by sign(a) gᵢ uᵢ at each plane i that the
neuron crosses; gᵢ uᵢ is the jump of its moment there.  Over a batch of length T in
which V changes by a small share δ,

    w(T) = w + T V + sign(a) Σ (T − τᵢ) gᵢ uᵢ,    V(T) = V + sign(a) Σ gᵢ uᵢ,

the sums over the planes that are crossed, at the times τᵢ.  These are found on the
straight line first, and then on the cubic through both ends of that try; what is left
is about δ times what the second try changed, and what the single jumps bend between the
ends of the cubic.  The sides at the end are those of w(T), and V goes with them.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.cubic import Cubic
from simbias.flows._relu.noninteracting.moving import Moving, SlidingPlanes, chosen
from simbias.flows._relu.norms import positive_or_one, rounding
from simbias.flows._relu.step_trajectory import StepData
from simbias.numerics.conditionals import repeat_while
from simbias.numerics.precision import matmul

# A batch as a share of |w|: the first, the longest, the shortest.
FIRST, _LONGEST, _SHORTEST = 0.03, 0.25, 1e-5
# The error of a batch as a share of the tolerance of the step.
_SHARE = 0.1
# What the jumps bend between the ends, as a share of what each of them does.
_BEND = 0.1
# A plane is crossed for sure if it is closed in on at this many times its jump.
_SURE = 2.0
# Batches of fewer planes are no better than plane after plane.
_WORTH = 12
# How much longer or shorter the next one may be.
_GROW, _SHRINK, _SAFETY = 2.0, 0.2, 0.8
# So many looks are gone from plane to plane at most before a batch is tried again.
_PATIENCE = 32
# Gauss–Legendre on [0, 1].
_LEGENDRE = np.polynomial.legendre.leggauss(5)
_NODES, _WEIGHTS = ((_LEGENDRE[0] + 1) / 2).tolist(), (_LEGENDRE[1] / 2).tolist()


def in_batches(moving: Moving, sliding: SlidingPlanes, step: StepData) -> Moving:
    """Neurons that do not slide, as far as they come by batches."""
    arrays, static = eqx.partition(step, eqx.is_array)
    is_nonsliding = jnp.all(sliding.plane < 0, axis=1)
    tries_batch = lambda moving, is_nonsliding: (
        moving.goes & is_nonsliding & (moving.waits == 0)
    )

    def body(context, carry):
        arrays, is_nonsliding = context
        step, moving = eqx.combine(arrays, static), carry[0]
        goes = tries_batch(moving, is_nonsliding)
        left = (1 - moving.fraction) * step.length
        new = batch(
            moving.w, moving.a, moving.moment, moving.is_above, moving.share, left, step
        )
        taken, one = goes & new.taken, jnp.ones_like(moving.waits)
        arrives = taken & (new.time >= left)
        fraction = moving.fraction + new.time / step.length
        count = jnp.where(taken, new.crossed, 0)
        gives_up = goes & ~new.is_worth
        moving = Moving(
            w=chosen(taken, new.w, moving.w),
            a=chosen(taken, new.a, moving.a),
            moment=chosen(taken, new.moment, moving.moment),
            fraction=chosen(taken, jnp.where(arrives, 1, fraction), moving.fraction),
            is_above=chosen(taken, new.is_above, moving.is_above),
            event_count=moving.event_count + count,
            crossings=moving.crossings + count,
            tau=moving.tau,
            goes=moving.goes & ~arrives,
            is_held_up=moving.is_held_up,
            share=chosen(goes, new.share, moving.share),
            waits=chosen(gives_up, moving.patience, moving.waits),
            patience=chosen(
                goes,
                chosen(gives_up, jnp.minimum(2 * moving.patience, _PATIENCE), one),
                moving.patience,
            ),
        )
        return moving, jnp.any(tries_batch(moving, is_nonsliding))

    start = moving, jnp.any(tries_batch(moving, is_nonsliding))
    moving, _ = repeat_while(lambda carry: carry[1], body)(
        (arrays, is_nonsliding), start
    )
    return moving


class Batch(NamedTuple):
    """Neurons after a batch, if it is `taken`.

    `share` is the length of the next batch as a share of |w|.  `is_worth` says whether
    that batch is better than plane after plane.
    """

    w: Float[Array, "c e"]
    a: Float[Array, " c"]
    moment: Float[Array, "c e"]
    is_above: Bool[Array, "c n"]
    time: Float[Array, " c"]
    crossed: Int[Array, " c"]
    taken: Bool[Array, " c"]
    share: Float[Array, " c"]
    is_worth: Bool[Array, " c"]


def batch(
    w: Float[Array, "c e"],
    a: Float[Array, " c"],
    moment: Float[Array, "c e"],
    is_above: Bool[Array, "c n"],
    share: Float[Array, " c"],
    left: Float[Array, " c"],
    step: StepData,
) -> Batch:
    """One batch of neurons that do not slide.

    Args:
        w: input weights.
        a: output weight.
        moment: M, the velocity but for the sign of a.
        is_above: sides of all planes.
        share: length of the batch as a share of |w|.
        left: time up to the end of the step, at which the batch ends if it would not
            before.
        step: what all neurons share.
    """
    normal = step.sample.normal
    sign, size = jnp.sign(a), _norm(w)
    side = jnp.where(is_above, 1, -1).astype(w.dtype)
    moment_jump = (1 - step.slope) * step.pull_start[:, 0]
    weight = side * moment_jump[None, :]
    surplus = jnp.maximum(a**2 - size**2, 0)
    along = lambda v: side * matmul(v, normal.T)
    gained = lambda weight: sign[:, None] * matmul(weight, normal)

    velocity = sign[:, None] * moment
    speed = _norm(velocity)
    length = share * size / positive_or_one(speed)
    ahead = lambda at, length: jnp.maximum(length[:, None] - at, 0)
    # On the straight line.
    height, closing = jnp.maximum(along(w), 0), -along(velocity)
    is_met = height < length[:, None] * closing
    at = height / jnp.where(is_met, closing, 1)
    v1 = velocity + gained(jnp.where(is_met, weight, 0))
    bent = gained(jnp.where(is_met, weight * ahead(at, length), 0))
    w1 = w + length[:, None] * velocity + bent
    first = _Trajectory(w, velocity, w1, v1, length, surplus)
    over = first.time() - left
    arrives = over > 0
    cut = jnp.where(arrives, jnp.clip(over * first.last_a(), 0, length), 0)
    length = length - cut
    first = _Trajectory(w, velocity, w1 - cut[:, None] * v1, v1, length, surplus)
    # On the cubic.
    run = length[:, None]
    cubic = Cubic(height, -run * closing, along(first.w1), run * along(v1))
    is_met = cubic.h1 < 0
    u, fall = _root(cubic, is_met)
    is_unsure = is_met & (fall < _SURE * run * jnp.abs(weight))
    u_unsure = jnp.min(jnp.where(is_unsure, u, jnp.inf), axis=1)
    v2 = velocity + gained(jnp.where(is_met, weight, 0))
    bent = gained(jnp.where(is_met, weight * ahead(u * run, length), 0))
    second = _Trajectory(w, velocity, w + run * velocity + bent, v2, length, surplus)
    time = second.time()
    rest = jnp.where(arrives, (left - time) * second.last_a(), 0)
    w2 = second.w1 + rest[:, None] * v2

    scale = positive_or_one(jnp.minimum(size, _norm(w2)))
    change = _norm(v2 - velocity) / positive_or_one(speed)
    missed = _norm(second.w1 - first.w1) + length * _norm(v2 - v1)
    missed = missed + jnp.abs(rest) * _norm(v2)
    jumps = jnp.where(is_met, weight**2 / positive_or_one(fall), 0)
    error = change * missed + _BEND * length**2 * jnp.sum(jumps, axis=1)
    error = error / (scale * _SHARE * step.rtol)

    h2 = matmul(w2, normal.T)
    limit = rounding(w) * _norm(w2)[:, None]
    there = jnp.where(jnp.abs(h2) <= limit, is_above ^ is_met, h2 > 0)
    flips = there != is_above
    crossed = jnp.sum(flips, axis=1, dtype=jnp.int32)
    is_sure = jnp.isinf(u_unsure)
    taken = (error <= 1) & is_sure & (speed > 0) & (size > 0)
    ratio = jnp.clip(_SAFETY / jnp.cbrt(jnp.maximum(error, 1e-3)), _SHRINK, _GROW)
    ratio = jnp.where(is_sure, ratio, jnp.minimum(ratio, _SAFETY * u_unsure))
    following = jnp.clip(ratio * share, _SHORTEST, _LONGEST)
    expected = crossed.astype(w.dtype) * jnp.where(taken, 1, ratio)
    return Batch(
        w=w2,
        a=sign * jnp.sqrt(jnp.sum(w2**2, axis=1) + surplus),
        moment=moment + matmul(jnp.where(flips, weight, 0), normal),
        is_above=there,
        time=jnp.where(arrives, left, time),
        crossed=crossed,
        taken=taken,
        share=following,
        is_worth=(expected >= _WORTH) & (following > _SHORTEST),
    )


def _root(p: Cubic, is_met: Bool[Array, "c n"]) -> tuple[Array, Array]:
    """Where a p that falls through 0 does so, and how fast."""
    c2, c3 = p.coefficients()
    u = p.h0 / jnp.where(is_met, p.h0 - p.h1, 1)
    fall = jnp.ones_like(u)
    for _ in range(2):
        value = p.h0 + u * (p.v0 + u * (c2 + u * c3))
        fall = -(p.v0 + u * (2 * c2 + u * 3 * c3))
        u = jnp.clip(u + value / jnp.where(fall > 0, fall, 1), 0, 1)
    return u, fall


def _norm(v: Float[Array, "c e"]) -> Float[Array, " c"]:
    return jnp.sqrt(jnp.sum(v**2, axis=1))


class _Trajectory(NamedTuple):
    """The cubic between two ends, over τ, and |a|² = |w|² + surplus along it."""

    w0: Float[Array, "c e"]
    v0: Float[Array, "c e"]
    w1: Float[Array, "c e"]
    v1: Float[Array, "c e"]
    length: Float[Array, " c"]
    surplus: Float[Array, " c"]

    def time(self) -> Float[Array, " c"]:
        """∫ dτ / |a|."""
        total = jnp.zeros_like(self.length)
        for u, weight in zip(_NODES, _WEIGHTS, strict=True):
            w = (1 + 2 * u) * (1 - u) ** 2 * self.w0 + u**2 * (3 - 2 * u) * self.w1
            rise = u * (1 - u) ** 2 * self.v0 + u**2 * (u - 1) * self.v1
            w = w + self.length[:, None] * rise
            total = total + weight / self._a(w)
        return total * self.length

    def last_a(self) -> Float[Array, " c"]:
        """|a| at the end."""
        return self._a(self.w1)

    def _a(self, w: Float[Array, "c e"]) -> Float[Array, " c"]:
        size = jnp.sqrt(jnp.sum(w**2, axis=1) + self.surplus)
        return jnp.where(size > 0, size, 1)
