"""Whether a two-layer ReLU network stays in its patterns for ever, and where it ends.

Neurons of one pattern g (active on the same samples, sliding on the same hyperplanes)
act through v = Σ aⱼ wⱼ alone.  While patterns stand L is a quadratic function of all
v_g, and with P_g the projection off the hyperplanes that g slides on

    v' = K q,  q_g = −P_g ∂L/∂v_g,  K_g = Σⱼ (aⱼ² I + wⱼ wⱼᵀ),  H = P ∂²L/∂v² P.

What is left to lose, E = L − min L = ½ qᵀ H⁺ q, then falls at least as e^{−2μt}, μ the
least eigenvalue of H^{1/2} K H^{1/2} that is not 0, and (wⱼ, aⱼ) still moves by at most

    (e^{Q_g} − 1) |(wⱼ, aⱼ)|,  Q_g = ∫ |q_g| dt ≤ √(2 E λmax(H_gg)) / μ.

K changes meanwhile; Q is taken twice as large, which is enough as long as K stays above
a half of what it is.  No neuron that is further from a hyperplane than that meets it,
and one that slides stays where it is pushed from both sides by more than what the
residuals r still change, Σᵢ ∂²L/∂fᵢ² (fᵢ(t) − fᵢ(∞))² ≤ 2 E.  Nothing of this is
approximate but for rounding.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import Loss
from simbias.numerics.alike import alike
from simbias.numerics.precision import matmul

# Numbers in one row of H, and the classes there is room for at least.
_ROW, _LEAST = 96, 4
# Eigenvalues of H below this share of the largest are 0.
_NONE = 1e-11
# A rate is known to this share of the sum of all.
_NOISE = 1e-13
# Roundings of a product; normals whose Gram determinant is below the share are one.
_ROUNDINGS, _FLAT = 1000, 1e-8


class Basin(NamedTuple):
    """Where a network goes if all its patterns stand, and whether they do.

    Attributes:
        is_known: no neuron ever meets another hyperplane, nor leaves one.
        distance: bound of how far any neuron still moves, in units of its size.
        least: L at the end, the least of all networks of these patterns.
    """

    is_known: Bool[Array, ""]
    distance: Float[Array, ""]
    least: Float[Array, ""]


class Neurons(NamedTuple):
    """Weights, a hidden bias as the last of w, and what is known of them."""

    w: Float[Array, "m e"]
    a: Float[Array, " m"]
    slope: float
    is_output_frozen: bool
    eps: float


class _Pins(NamedTuple):
    """Per class: the rows it slides on (−1: none), the dual of their normals, P."""

    row: Int[Array, "r e"]
    dual: Float[Array, "r e e"]
    projection: Float[Array, "r e e"]
    is_sound: Bool[Array, " r"]


class _Loose(NamedTuple):
    """Classes that nothing holds on their hyperplane from below, or from above.

    There the class `of` is at home, whose force comes to nothing: neurons of the loose
    class may go there, or come back, and move by no more than those.  What they add to
    the fall of L is not counted.
    """

    below: Bool[Array, " r"]
    above: Bool[Array, " r"]
    of: Int[Array, " r"]

    @property
    def is_any(self) -> Bool[Array, " r"]:
        return self.below | self.above


class _Push(NamedTuple):
    """Speeds off each hyperplane on both sides of it, and how they bend with f."""

    below: Float[Array, "r e"]
    above: Float[Array, "r e"]
    bend: Float[Array, "r e"]


def basin(
    neurons: Neurons,
    x: Float[Array, "n e"],
    y: Float[Array, "n 1"],
    weight: Float[Array, " n"],
    loss: Loss,
) -> Basin:
    """What is known of the limit; `loss` is a mean of squares, `x` 0 on padding.

    Nothing is known of a network with more classes than there is room for, or with a
    neuron on hyperplanes whose normals are not independent, as those of duplicates.
    """
    w, a, slope = neurons.w, neurons.a, neurons.slope
    e, rounding = w.shape[1], _ROUNDINGS * neurons.eps
    room = max(_ROW // e, _LEAST)
    h, length = matmul(w, x.T), jnp.linalg.norm(x, axis=1)
    is_seen = ((weight > 0) & (length > 0))[None, :]
    slack = rounding * jnp.linalg.norm(w, axis=1)
    is_on = (jnp.abs(h) <= slack[:, None] * length[None, :]) & is_seen
    is_active = (h > 0) & is_seen & ~is_on
    size = jnp.sqrt(jnp.sum(w**2, axis=1) + a**2)
    # A neuron without active samples stays where it is, so does one that is 0.
    is_moved = (size > 0) & (jnp.any(is_active, axis=1) | (slope > 0))
    rows = jnp.concatenate([is_active, is_on], axis=1)
    first, kind, is_enough = alike(rows, is_moved, room)

    def total(each):
        is_one = is_moved.reshape(-1, *(1,) * (each.ndim - 1))
        return jax.ops.segment_sum(jnp.where(is_one, each, 0), kind, room)

    squares, sizes, sign = total(a**2), total(size**2), jnp.sign(total(a))
    is_class = sizes > 0
    metric = squares[:, None, None] * jnp.eye(e)[None]
    if not neurons.is_output_frozen:
        metric = metric + total(w[:, :, None] * w[:, None, :])
    # Nothing is known either of a class with outputs of both signs on a hyperplane.
    is_mixed = jnp.abs(total(a)) < total(jnp.abs(a)) * (1 - rounding)
    active, on = is_active[first] & is_class[:, None], is_on[first] & is_class[:, None]
    pins = _pins(on, x, length)
    factor = jnp.where(active, 1, jnp.where(on, 0, slope))
    factor = jnp.where(is_class[:, None], factor, 0)
    loose = _loose(active, on, is_class)

    f = matmul(jnp.where(h > 0, h, slope * h).T, a[:, None])
    residual = lambda f: jax.grad(loss)(f, y, weight)
    r, curvature = jax.jvp(residual, (f,), (jnp.ones_like(f),))
    r, curvature = r[:, 0], curvature[:, 0]
    seen = jnp.einsum("ne,gef->gnf", x, pins.projection, precision="highest")
    columns = jnp.where(loose.is_any[:, None], 0, factor)[:, :, None] * seen
    columns = jnp.moveaxis(columns, 0, 1).reshape(len(x), room * e)
    force = -matmul(columns.T, r[:, None])[:, 0]
    curved = matmul(columns.T, curvature[:, None] * columns)
    left, speed = _left(curved, metric, force)

    blocks = jnp.diagonal(curved.reshape(room, e, room, e), axis1=0, axis2=2)
    largest = jnp.linalg.eigvalsh(jnp.moveaxis(blocks, -1, 0))[:, -1]
    way = 2 * jnp.sqrt(2 * left * jnp.maximum(largest, 0))
    way = jnp.where(speed > 0, way / jnp.where(speed > 0, speed, 1), jnp.inf)
    way = jnp.where(loose.is_any, way[loose.of], way)
    if neurons.is_output_frozen:
        # w' = a q: no exponential, and K stands.
        share, is_steady = way, jnp.ones_like(is_class)
    else:
        share = jnp.expm1(way)
        is_steady = jnp.expm1(2 * way) * sizes <= squares / 2
    reach = share[kind] * size + slack
    is_clear = jnp.abs(h) > reach[:, None] * length[None, :]
    is_clear = jnp.all(is_clear | is_on | ~is_seen, axis=1)
    push = _push(pins, factor, x, length, r, curvature, slope)
    changes = 2 * jnp.sqrt(2 * left) * push.bend
    is_up = (sign[:, None] * push.below > changes) | loose.below[:, None]
    is_down = (sign[:, None] * push.above < -changes) | loose.above[:, None]
    is_pinned = jnp.any(pins.row >= 0, axis=1)
    is_held = jnp.all((is_up & is_down) | (pins.row < 0), axis=1)
    is_fine = (is_steady | loose.is_any) & is_held & pins.is_sound
    is_fine &= ~(is_mixed & is_pinned)
    now = loss(f, y, weight)
    return Basin(
        is_enough & jnp.all(is_clear | ~is_moved) & jnp.all(is_fine | ~is_class),
        jnp.max(jnp.where(is_class, share, 0)),
        jnp.maximum(now - left, 0),
    )


def _pins(
    is_on: Bool[Array, "r n"], x: Float[Array, "n e"], length: Float[Array, " n"]
) -> _Pins:
    """As many as can be independent; with more, or others, a class is not sound."""
    e = x.shape[1]
    count = min(e, len(x))
    row = jnp.argsort(~is_on, axis=1, stable=True)[:, :count].astype(jnp.int32)
    row = jnp.where(jnp.take_along_axis(is_on, row, axis=1), row, -1)
    is_pin = row >= 0
    unit = x / jnp.where(length > 0, length, 1)[:, None]
    normal = jnp.where(is_pin[:, :, None], unit[jnp.maximum(row, 0)], 0)
    gram = jnp.einsum("gpe,gqe->gpq", normal, normal, precision="highest")
    gram = gram + jnp.where(is_pin, 0, 1)[:, :, None] * jnp.eye(count)[None]
    is_sound = jnp.linalg.det(gram) > _FLAT
    gram = jnp.where(is_sound[:, None, None], gram, jnp.eye(count)[None])
    dual = jnp.linalg.solve(gram, normal)
    off = jnp.einsum("gpe,gpf->gef", normal, dual, precision="highest")
    is_sound &= jnp.sum(is_on, axis=1) <= count
    return _Pins(row, dual, jnp.eye(e)[None] - off, is_sound)


def _loose(
    active: Bool[Array, "r n"], on: Bool[Array, "r n"], is_class: Bool[Array, " r"]
) -> _Loose:
    """Classes on one hyperplane, on one side of which another class is at home."""
    is_one = jnp.sum(on, axis=1) == 1
    is_home = is_class & ~jnp.any(on, axis=1)
    equal = lambda rows: (
        jnp.all(rows[:, None, :] == active[None, :, :], axis=2) & is_home[None, :]
    )
    below, above = equal(active), equal(active | on)
    of = jnp.argmax(below | above, axis=1)
    any_of = lambda found: is_one & jnp.any(found, axis=1)
    return _Loose(any_of(below), any_of(above), of)


def _push(
    pins: _Pins,
    factor: Float[Array, "r n"],
    x: Float[Array, "n e"],
    length: Float[Array, " n"],
    r: Float[Array, " n"],
    curvature: Float[Array, " n"],
    slope: float,
) -> _Push:
    """What moves classes across the hyperplanes that they slide on, per unit of a.

    Off these a class is moved along the dual of their normals by −Σ z r; the sample of
    one of them adds −|x| r above it, and `slope` times that below.
    """
    along = jnp.einsum("ne,gpe->gpn", x, pins.dual, precision="highest")
    z = factor[:, None, :] * along
    at = jnp.maximum(pins.row, 0)
    rest, own = -jnp.sum(z * r[None, None, :], axis=2), -(length * r)[at]
    bend = jnp.sqrt(jnp.sum(z**2 * curvature[None, None, :], axis=2))
    bend = bend + (length * jnp.sqrt(curvature))[at]
    return _Push(rest + slope * own, rest + own, bend)


def _left(
    curved: Float[Array, "c c"],
    metric: Float[Array, "r e e"],
    force: Float[Array, " c"],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """What is left to lose, E, and the rate μ."""
    r, e, _ = metric.shape
    value, vector = jnp.linalg.eigh(curved)
    is_some = value > _NONE * value[-1]
    safe = jnp.where(is_some, value, 1)
    part = matmul(vector.T, force[:, None])[:, 0]
    left = jnp.sum(jnp.where(is_some, part**2 / safe, 0)) / 2
    scaled = jnp.where(is_some, jnp.sqrt(safe), 0)[None, :] * vector
    pieces = scaled.reshape(r, e, r * e)
    moved = jnp.einsum("gij,gjc->gic", metric, pieces, precision="highest")
    rates = matmul(scaled.T, moved.reshape(r * e, r * e))
    # Directions in which L does not bend are no slow ones.
    size = jnp.trace(rates)
    rates = rates + jnp.diag(jnp.where(is_some, 0, 1 + size))
    speed = jnp.linalg.eigvalsh(rates)[0] - _NOISE * size
    return left, jnp.maximum(speed, 0)
