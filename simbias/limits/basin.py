"""Whether a two-layer ReLU network stays in its patterns for ever, and where it ends.

Neurons of one pattern g (active on the same samples, sliding on the same hyperplanes)
act through v = Σ aⱼ wⱼ alone.  While patterns stand L is a quadratic function of all
v_g, and with P_g the projection off the hyperplanes that g slides on

    v' = K q,  q_g = −P_g ∂L/∂v_g,  K_g = Σⱼ (aⱼ² I + wⱼ wⱼᵀ),  H = P ∂²L/∂v² P,

so that q' = −H K q.  Each neuron obeys (wⱼ, aⱼ)' = (aⱼ q, wⱼ·q), and moves by at most

    (e^{Q_g} − 1) |(wⱼ, aⱼ)|,  Q_g = ∫ |q_g| dt.

Were K what it is now, q_g = Σ_k αₖ e^{−μₖt} E_gk with the modes of H^{1/2} K H^{1/2},
and Q_g ≤ B_g = Σ_k |αₖ| |E_gk| / μₖ.  K_g moves by at most κ_g(Q) = (e^{2Q_g} − 1)
Σⱼ |(wⱼ, aⱼ)|², so that by Duhamel's formula, as long as Q is a bound,

    Q_g ≤ F(Q)_g = B_g + Σ_h M_gh κ_h(Q) Q_h,  M_gh = Σ_k |E_gk| |E_hk| / μₖ,

and a Q* ≥ F(Q*) is a bound for ever.  No neuron that is further from a hyperplane than
that meets it, and one that slides stays where it is pushed from both sides by more than
what the residuals r still change, |δ|² = Σᵢ ∂²L/∂fᵢ² (fᵢ(t) − fᵢ(∞))² ≤ 2 (L − min L).

*Loose* neurons slide on a hyperplane off which, on one side, the force comes to
nothing: what they would fit there is in the span of what is fitted already.  They may
leave it and come back, and add to the fall of L at least what they do on it; then
Q_g ≤ 2|δ| √‖H_gg‖ / μ, as long as K stays above a half of what it is.

*Dead* neurons are active on no sample.  One that is below all hyperplanes by more than
rounding stays.  One that is within rounding of some stays if each of them pushes it
back from its active side; otherwise it counts as one that slides on them, so that
between mirror images, say, it must be held from both sides like any other.

What holds a neuron on a hyperplane changes its sign with that of a.  A neuron that is
within rounding of hyperplanes may be off them by a vector u, of at most the rounding
times Σ |n*| over the dual normals, and comes back as (u, a)' = (a q, u·q) along q, so
that a² − |u|² stands still.  Hence |a| must be above |u|, and above all that the neuron
may still move along the hyperplanes.  So nothing is known of a
neuron that is pushed towards 0 along the ray that its hyperplanes leave to it: if |w|
is the larger by one rounding, a passes through 0, and the neuron grows again.

Nothing of this is approximate but for rounding, and for what is taken for rounding: an
eigenvalue of H below 1e-11 of the largest, if no force lies along it, and a vector that
is in a span but for 1e-12 of its length.  Where there is a force nothing is known.  A
neuron whose weights are all exactly 0 counts as absent.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.limits.classes import Classes, classes, stay_dead
from simbias.limits.modes import Modes, bending, is_spanned, modes
from simbias.limits.neurons import Neurons, Sample, output, residual
from simbias.limits.sides import held, sides_of
from simbias.numerics.precision import matmul

# Numbers in one row of H, and the classes there is room for at least.
_ROW, _LEAST = 96, 4
# Applications of F from B on, with this share of its largest entry on top.
_TURNS, _ON_TOP = 30, 0.1
# A way that is none, before e^2Q overflows.
_FAR = 20.0


class Basin(NamedTuple):
    """Where a network goes if all its patterns stand, and whether they do.

    Attributes:
        is_known: no neuron ever meets another hyperplane, nor leaves one, unless it is
            loose.
        distance: bound of how far any neuron still moves, in units of its size.
        least: L at the end, the least of all networks of these patterns.
        drift: ∫ q dt of each neuron, up to `error`; 0 if any neuron is loose.
        error: how wrong the end is that follows from it, in units of a neuron's size.
    """

    is_known: Bool[Array, ""]
    distance: Float[Array, ""]
    least: Float[Array, ""]
    drift: Float[Array, "m e"]
    error: Float[Array, " m"]


class _Masses(NamedTuple):
    """Per class: Σ aⱼ², Σ aⱼ² + |wⱼ|², Σ wⱼ wⱼᵀ, and the sign of a if it has one."""

    squares: Float[Array, " r"]
    sizes: Float[Array, " r"]
    spread: Float[Array, "r e e"]
    sign: Float[Array, " r"]
    is_mixed: Bool[Array, " r"]


class _Reach(NamedTuple):
    """Per class: Q, that it is a bound, and how far ∫ q dt is from the drift."""

    way: Float[Array, " r"]
    is_bound: Bool[Array, " r"]
    error: Float[Array, " r"]


def basin(neurons: Neurons, sample: Sample) -> Basin:
    """What is known of the limit.

    Nothing is known of a network with more classes than there is room for, nor of one
    with a neuron on hyperplanes whose normals depend on each other.
    """
    w, a, x = neurons.w, neurons.a, sample.x
    e = w.shape[1]
    room = max(_ROW // e, _LEAST)
    f = output(neurons, x)
    now = sample.loss(f[:, None], sample.y, sample.weight)
    r, curvature = residual(sample, f)
    of = classes(neurons, sample, room, e, is_by_sign=False, residual=r)
    masses = _masses(of, neurons, room)
    gram = lambda factor: jnp.einsum(
        "gn,ne,nf->gef", factor**2 * curvature[None, :], x, x, precision="highest"
    )
    project = jax.vmap(of.sliding.project, in_axes=1, out_axes=1)
    eye = jnp.broadcast_to(jnp.eye(e)[None], (room, e, e))
    seen = jnp.einsum("ne,gef->gnf", x, project(eye), precision="highest")
    columns = of.factor[:, :, None] * seen
    columns = jnp.moveaxis(columns, 0, 1).reshape(len(x), room * e)
    bent = bending(columns, curvature, r)
    sides = sides_of(of, neurons.slope, x)
    is_one = of.is_class & (jnp.sum(of.sliding.row >= 0, axis=1) == 1)
    spanned = is_spanned(sides[:, :, 0].reshape(-1, len(x)), columns, curvature, bent)
    # A side on which there is nothing at all keeps a neuron where it is.
    is_empty = jnp.all(sides == 0, axis=3)
    loose = spanned.reshape(2, room) & is_one[None, :] & ~is_empty[:, :, 0]
    is_loose = jnp.any(loose, axis=0)

    metric = masses.squares[:, None, None] * eye
    if not neurons.is_output_frozen:
        metric = metric + jnp.where(is_loose[:, None, None], 0, masses.spread)
    falling = modes(bent, metric)
    change = jnp.sqrt(2 * bent.left)
    stood = _reach(falling, masses.sizes, neurons.is_output_frozen)
    off = gram(jnp.where(of.on, 1, of.factor))
    blocks = jnp.where(is_loose[:, None, None], off, _blocks(bent.root, room))
    moved = _reach_of_loose(blocks, falling, change, masses, neurons)
    reach = jax.tree.map(lambda a, b: jnp.where(jnp.any(is_loose), a, b), moved, stood)

    share = reach.way if neurons.is_output_frozen else jnp.expm1(reach.way)
    share = jnp.where(of.is_class, share, 0)
    size = jnp.sqrt(jnp.sum(w**2, axis=1) + a**2)
    length, h = jnp.linalg.norm(x, axis=1), matmul(w, x.T)
    further = share[of.kind] * size
    room_for = (further + of.slack)[:, None] * length[None, :]
    is_on = of.on[of.kind]
    is_absent = (sample.weight == 0) | (length == 0)
    is_clear = (jnp.abs(h) > room_for) | is_on | is_absent[None, :]
    bends = jnp.sqrt(matmul(sides**2, curvature[:, None])[:, :, :, 0])
    is_open = loose[:, :, None] | is_empty
    is_held = held(of, sides, masses.sign, r, 2 * change * bends, is_open)
    is_sliding = jnp.any(of.sliding.row >= 0, axis=1)
    is_fine = is_held & of.is_sound & reach.is_bound & ~(masses.is_mixed & is_sliding)
    # The sign of a, on which it depends which hyperplanes hold a neuron, stays.
    dual = jnp.sum(jnp.linalg.norm(of.sliding.dual, axis=2), axis=1)
    beside = of.slack * dual[of.kind]
    is_steady = (jnp.abs(a) > further + beside) | ~is_sliding[of.kind]
    if neurons.is_output_frozen:
        is_steady = jnp.ones_like(is_steady)
    stays = (jnp.all(is_clear, axis=1) & is_steady) | ~of.is_moved
    stays &= stay_dead(of, a, sample, r, 2 * change * jnp.sqrt(curvature))

    drift = jnp.einsum(
        "gec,c->ge", falling.part, falling.alpha * falling.slowness, precision="highest"
    )
    drift = jnp.where(jnp.any(is_loose), 0, drift)
    error = jnp.where(of.is_class, reach.error, 0)
    ours = of.is_moved & of.is_class[of.kind]
    return Basin(
        of.is_enough & jnp.all(stays) & jnp.all(is_fine | ~of.is_class),
        jnp.max(share),
        jnp.maximum(now - bent.left, 0),
        jnp.where(ours[:, None], drift[of.kind], 0),
        jnp.where(ours, error[of.kind], 0),
    )


def _masses(of: Classes, neurons: Neurons, room: int) -> _Masses:
    w, a = neurons.w, neurons.a

    def total(each):
        is_one = of.is_moved.reshape(-1, *(1,) * (each.ndim - 1))
        return jax.ops.segment_sum(jnp.where(is_one, each, 0), of.kind, room)

    has = lambda is_such: total(is_such.astype(a.dtype)) > 0
    return _Masses(
        total(a**2),
        total(a**2 + jnp.sum(w**2, axis=1)),
        total(w[:, :, None] * w[:, None, :]),
        jnp.sign(total(a)),
        has(a > 0) & has(a < 0),
    )


def _reach(falling: Modes, sizes: Float[Array, " r"], is_frozen: bool) -> _Reach:
    """Q* ≥ F(Q*), if iteration of F finds one."""
    part = jnp.linalg.norm(falling.part, axis=1)
    slow = part * falling.slowness[None, :]
    first = matmul(slow, jnp.abs(falling.alpha)[:, None])[:, 0]
    both = matmul(slow, part.T) * (0 if is_frozen else 1)
    grown = lambda way: matmul(both, (jnp.expm1(2 * way) * sizes * way)[:, None])[:, 0]
    start = first + _ON_TOP * jnp.max(first)
    turn = lambda _, way: jnp.minimum(start + grown(way), _FAR)
    way = jax.lax.fori_loop(0, _TURNS, turn, jnp.minimum(start, _FAR))
    bound = first + grown(way)
    is_bound = jnp.all(bound <= way) & jnp.isfinite(falling.slowest)
    # A neuron follows ∫ q dt in whatever order, but for the square of it.
    order = 0 if is_frozen else 2 * (jnp.expm1(bound) - bound)
    wrong = jnp.exp(bound) * grown(way)
    bound = jnp.where(is_bound, bound, jnp.inf)
    return _Reach(bound, jnp.full(len(sizes), is_bound), order + wrong)


def _reach_of_loose(
    blocks: Float[Array, "r e e"],
    falling: Modes,
    change: Float[Array, ""],
    masses: _Masses,
    neurons: Neurons,
) -> _Reach:
    """Q where some classes are loose, by the fall of L alone."""
    # At least the largest eigenvalue, and no call of LAPACK for every class.
    largest = jnp.sqrt(jnp.sum(blocks**2, axis=(1, 2)))
    is_known = jnp.isfinite(falling.slowest)
    slowest = jnp.where(is_known, falling.slowest, 0)
    way = jnp.where(is_known, 2 * change * jnp.sqrt(largest) * slowest, jnp.inf)
    if neurons.is_output_frozen:
        return _Reach(way, jnp.full(len(way), is_known), way)
    grown = jnp.expm1(2 * way) * masses.sizes
    is_steady = jnp.where(masses.sizes > 0, grown <= masses.squares / 2, is_known)
    return _Reach(way, is_steady, jnp.expm1(way))


def _blocks(root: Float[Array, "c c"], room: int) -> Float[Array, "r e e"]:
    """H_gg of every class."""
    pieces = root.reshape(room, -1, len(root))
    return jnp.einsum("gec,gfc->gef", pieces, pieces, precision="highest")
