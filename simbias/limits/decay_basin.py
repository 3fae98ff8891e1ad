"""Whether a two-layer ReLU network with weight decay stays in its patterns for ever.

The flow is that of G(θ) = L(θ) + (μ/2)‖θ‖².  Neurons of one pattern g and one sign s of
a act through v = Σ aⱼ wⱼ.  With q_g = −P_g ∂L/∂v_g, and P_g the projection off the
hyperplanes that g slides on, a neuron zⱼ = (wⱼ, aⱼ) obeys

    zⱼ' = (A − μ) zⱼ,  A = [[0, q_g], [q_gᵀ, 0]],

and A has the eigenvalues ±|q_g| and 0.  So a neuron that is at rest and not 0 has
|q_g| = μ, wⱼ = aⱼ q_g/μ.  A neuron of |q_g| < μ goes to 0; at θ = 0 this is all.

Within patterns there are no minima but the least: with u_g = s v_g/|v_g|

    G = Φ(v) + D,  Φ = L + μ Σ_g |v_g|,
    D = (μ/2) Σⱼ |wⱼ − (wⱼ·u)u|² + (wⱼ·u − |aⱼ|)² ≥ 0,

and Φ, a group lasso, is convex.  The patterns of *kept* groups are those of the limit;
*fading* groups have |q_g| < μ and vanish.  Let Φ* be the least Φ of the kept groups,
E = G − Φ*, ξ_g = ∂Φ/∂v_g, S_g = Σ aⱼ², Z = Σ |zⱼ|² of the fading neurons, and

    H̃ = ½ ∂²L/∂v² + μ/(1.1 |v_g|) (I − u uᵀ),   σ the least eigenvalue of S^½ H̃ S^½.

L is quadratic and |v'| ≥ u·v' + |v' − (u·v')u|²/(2R) for |v'| ≤ R.  Therefore

    E ≤ D + ½ ξᵀH̃⁻¹ξ + E_f + Σᵢ ∂²L/∂fᵢ² |xᵢ|² Z²/8,  E_f = Σ_fading ½ zⱼᵀ(μ − A)zⱼ.

From Σ aⱼ(wⱼ − (wⱼ·u)u) = 0, with x = u·ξ and d = w·u − |a|,

    |∇G|² ≥ Σ_g [μ² Σ|w_⊥|² + (S − Σ|w_⊥|²)|ξ_⊥|² + ¼x² Σ(2|a| + d)² + ¼(2μ − x)² Σd²]
            + Σ_fading zⱼᵀ(μ − A)²zⱼ,

which is at least κE with κ = min(σ/2, μ/2, 0.8 min_fading (μ − |q_g|)), while D is
small against μS and no quantity has moved by much.  So E falls as e^{−κt}, and all
neurons together move by at most Λ = 2√(E/κ).  As a function of Λ the rest is checked:

* q_g moves by at most ε = Σᵢ ∂²L/∂fᵢ² |xᵢ|² (|θ|Λ + Λ²/2).
* If s aⱼ > 0 and s wⱼ·q_g > ε|wⱼ| with ε ≤ |q_g|/4, both stay so, because
  a' = w·q − μa and (w·q_g)' = a q·q_g − μ w·q_g.
* hᵢ = w·xᵢ obeys hᵢ' = a q·xᵢ − μhᵢ.  So no neuron meets hyperplane i if s q_g·xᵢ has
  the sign of hᵢ by more than ε|xᵢ|, or if xᵢ is orthogonal to all that acts on it.
* Neurons that slide are pushed back from both sides, dead ones from their active side,
  by more than residuals can change.  The decay itself is tangent to all hyperplanes.

*Dead* neurons, and ones on which no sample acts, go to 0 along their ray.  The others
end at the least G of all networks of the kept patterns.  That need not be a minimum of
G: from a neuron that is 0, G falls along each w with |Σᵢ rᵢ (w·xᵢ)₊| > μ|w|, and there
is none only at the least G of all networks (`theory.best_network`).

Groups whose directions fit the same, Σ c_g P X_g u_g = 0, have σ = 0, a flat valley of
least Φ, and nothing is proven.  Rounding is as in `limits.basin`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.limits.classes import Classes, acts_along, classes, stay_dead
from simbias.limits.neurons import Neurons, Sample, output, residual
from simbias.limits.sides import held, sides_of
from simbias.numerics.precision import matmul

# Numbers in one row of H̃, and the groups there is room for: kept ones at least, all.
_ROW, _LEAST, _ROOM = 96, 4, 512
# Share of the largest ‖θ‖² below which a group is no kept one.
_LOST = 1e-6
# An eigenvalue is known to this share of the sum of all.
_NOISE = 1e-13


class DecayBasin(NamedTuple):
    """Where a network with weight decay goes, and whether that is proven.

    Attributes:
        is_known: no neuron ever meets another hyperplane, nor leaves one.
        distance: bound of ‖θ − θ(∞)‖, in units of ‖θ‖; of √(2L(0)/μ), the largest ‖θ‖
            at which G is no more than at 0, if the limit is 0.
        excess: bound of G − G(∞), without the neurons on which nothing acts.
    """

    is_known: Bool[Array, ""]
    distance: Float[Array, ""]
    excess: Float[Array, ""]


class _Groups(NamedTuple):
    """Per group: Σ aⱼ², Σ |zⱼ|², Σ aⱼwⱼ, |v|, u, q, |q|, ξ; D; what it is."""

    squares: Float[Array, " r"]
    sizes: Float[Array, " r"]
    total: Float[Array, "r e"]
    length: Float[Array, " r"]
    unit: Float[Array, "r e"]
    force: Float[Array, "r e"]
    strength: Float[Array, " r"]
    gradient: Float[Array, "r e"]
    defect: Float[Array, " r"]
    sign: Float[Array, " r"]
    is_kept: Bool[Array, " r"]
    is_fading: Bool[Array, " r"]
    is_idle: Bool[Array, " r"]


def decay_basin(
    neurons: Neurons, sample: Sample, decay: Float[Array, ""]
) -> DecayBasin:
    """What is known of the limit of the flow of L + (μ/2)‖θ‖², μ = `decay` > 0.

    Nothing is known of a network with output weights that are not trained, with more
    than 512 groups, more than 96/e kept ones, or where H̃ is singular.

    Reference: ours; that the least G of a pattern is a group lasso is from Pilanci &
    Ergen (2020), arXiv:2002.10553.
    """
    w, a, x = neurons.w, neurons.a, sample.x
    e, length = w.shape[1], jnp.linalg.norm(x, axis=1)
    room = min(len(w), _ROOM)
    r, curvature = residual(sample, output(neurons, x))
    of = classes(
        neurons, sample, room, e, is_by_sign=True, residual=r, is_by_force=True
    )
    start = sample.loss(jnp.zeros_like(sample.y), sample.y, sample.weight)
    group = _groups(of, neurons, x, r, decay, room, 2 * start / decay)
    lightest, slope, is_enough = _bent(of, group, x, curvature, decay)

    moving = jnp.sum(group.sizes)
    bend = jnp.sum(curvature * length**2)
    fading = jnp.sum(jnp.where(group.is_fading, group.sizes, 0))
    gap = jnp.where(group.is_fading, 1 - group.strength / decay, 1)
    is_lost = group.is_fading[of.kind] & of.is_moved
    along = jnp.sum(w * group.force[of.kind], axis=1)
    lost = decay / 2 * (jnp.sum(w**2, axis=1) + a**2) - a * along
    excess = jnp.sum(group.defect) + slope + jnp.sum(jnp.where(is_lost, lost, 0))
    excess += bend * fading**2 / 8
    rate = jnp.minimum(lightest, jnp.minimum(decay, 1.6 * decay * jnp.min(gap))) / 2
    is_convex = (lightest > 0) & (rate > 0)
    way = 2 * jnp.sqrt(excess / jnp.where(is_convex, rate, 1))
    further = jnp.sqrt(moving) * way + way**2 / 2
    turn = bend * further
    is_small = _is_small(group, lightest, decay, excess, way, turn)
    is_small &= (turn <= gap * decay / 2) & (bend * fading <= gap * decay)
    is_fine = is_small | ~(group.is_kept | group.is_fading)

    # The signs of a and of all pre-activations stay.
    size, kind = jnp.linalg.norm(w, axis=1), of.kind
    ahead = along * group.sign[kind]
    beside = of.slack * jnp.sum(jnp.linalg.norm(of.sliding.dual, axis=2), axis=1)[kind]
    is_ahead = (ahead > turn * size) | group.is_idle[kind]
    stays = (is_ahead & (a != 0) & (jnp.abs(a) > beside)) | ~of.is_moved
    stays &= stay_dead(
        of, a, sample, r, jnp.sqrt(len(x)) * curvature * length * further
    )
    is_fine &= (turn <= group.strength / 4) | group.is_idle
    pull = group.sign[:, None] * matmul(group.force, x.T)
    is_away = jnp.where(of.active, pull, -pull) > turn * length[None, :]
    acts = acts_along((of.factor != 0) | of.on, x)
    is_absent = (sample.weight == 0) | (length == 0)
    is_fine &= jnp.all(is_away | ~acts | of.on | is_absent[None, :], axis=1)
    # Those that slide stay on their hyperplanes.
    sides = sides_of(of, neurons.slope, x)
    change = jnp.abs(sides) * (curvature * length * further)[None, None, None, :]
    is_empty = jnp.all(sides == 0, axis=3)
    is_fine &= held(of, sides, group.sign, r, jnp.sum(change, axis=3), is_empty)
    is_fine &= of.is_sound

    dead = jnp.sum(jnp.where(of.is_moved[:, None], 0, w**2 + a[:, None] ** 2))
    unit = jnp.where(jnp.any(group.is_kept), moving + dead, 2 * start / decay)
    known = of.is_enough & is_enough & is_convex & jnp.all(stays)
    if neurons.is_output_frozen:
        known = jnp.array(False)
    return DecayBasin(
        known & jnp.all(is_fine | ~of.is_class),
        jnp.sqrt((way**2 + dead) / jnp.where(unit > 0, unit, 1)),
        excess,
    )


def _groups(
    of: Classes,
    neurons: Neurons,
    x: Float[Array, "n e"],
    r: Float[Array, " n"],
    decay: Float[Array, ""],
    room: int,
    most: Float[Array, ""],
) -> _Groups:
    w, a = neurons.w, neurons.a

    def total(each):
        is_one = of.is_moved.reshape(-1, *(1,) * (each.ndim - 1))
        return jax.ops.segment_sum(jnp.where(is_one, each, 0), of.kind, room)

    sign = jnp.where(of.is_class, jnp.sign(a)[of.first], 0)
    squares, sizes = total(a**2), total(a**2 + jnp.sum(w**2, axis=1))
    v = total(a[:, None] * w)
    length = jnp.linalg.norm(v, axis=1)
    unit = sign[:, None] * v / jnp.where(length > 0, length, 1)[:, None]
    force = of.sliding.project(-matmul(of.factor, r[:, None] * x))
    strength = jnp.linalg.norm(force, axis=1)
    is_idle = ~jnp.any(of.factor != 0, axis=1) & of.is_class
    # In the limit the share of a fading group is 0, and the gap of a kept one.
    share = sizes / jnp.where(jnp.sum(sizes) > 0, jnp.sum(sizes), 1)
    is_kept = of.is_class & ~is_idle & (jnp.abs(1 - strength / decay) < share)
    is_kept &= (length > 0) & (sizes > _LOST * most)
    gradient = decay * sign[:, None] * unit - force
    along = jnp.sum(w * unit[of.kind], axis=1)
    across = w - along[:, None] * unit[of.kind]
    off = total(jnp.sum(across**2, axis=1) + (along - jnp.abs(a)) ** 2)
    return _Groups(
        *(squares, sizes, v, length, unit, force, strength),
        jnp.where(is_kept[:, None], gradient, 0),
        jnp.where(is_kept, decay / 2 * off, 0),
        *(sign, is_kept, of.is_class & ~is_kept, is_idle),
    )


def _bent(
    of: Classes,
    group: _Groups,
    x: Float[Array, "n e"],
    curvature: Float[Array, " n"],
    decay: Float[Array, ""],
) -> tuple[Float[Array, ""], Float[Array, ""], Bool[Array, ""]]:
    """σ, ½ ξᵀH̃⁻¹ξ, and whether there is room for all kept groups."""
    e = x.shape[1]
    count = min(max(_ROW // e, _LEAST), len(group.length))
    first = jnp.argsort(~group.is_kept, stable=True)[:count]
    is_kept = group.is_kept[first]
    eye = jnp.broadcast_to(jnp.eye(e)[None], (len(group.length), e, e))
    project = jax.vmap(of.sliding.project, in_axes=1, out_axes=1)(eye)[first]
    root = jnp.sqrt(jnp.where(is_kept, group.squares[first], 0))
    factor = of.factor[first] * root[:, None]
    columns = factor.T[:, :, None] * jnp.einsum(
        "ne,gef->ngf", x, project, precision="highest"
    )
    columns = columns.reshape(len(x), count * e)
    bent = matmul(columns.T, curvature[:, None] * columns) / 2
    unit, length = group.unit[first], group.length[first]
    around = decay * root**2 / jnp.where(is_kept, 1.1 * length, 1)
    across = eye[:count] - unit[:, :, None] * unit[:, None, :]
    blocks = around[:, None, None] * across
    place = jnp.arange(count)
    bent = bent.reshape(count, e, count, e).at[place, :, place, :].add(blocks)
    bent = bent.reshape(count * e, count * e)
    size = jnp.trace(bent)
    fill = jnp.repeat(jnp.where(is_kept, 0, 1 + size), e)
    value, vector = jnp.linalg.eigh(bent + jnp.diag(fill))
    value = value - _NOISE * size
    scaled = (root[:, None] * group.gradient[first]).reshape(-1, 1)
    part = matmul(vector.T, scaled)[:, 0]
    is_up = value > 0
    slope = jnp.sum(jnp.where(is_up, part**2 / jnp.where(is_up, value, 1), 0)) / 2
    lightest = jnp.where(jnp.any(is_kept), value[0], decay)
    return lightest, slope, jnp.sum(group.is_kept) <= count


def _is_small(
    group: _Groups,
    lightest: Float[Array, ""],
    decay: Float[Array, ""],
    excess: Float[Array, ""],
    way: Float[Array, ""],
    turn: Float[Array, ""],
) -> Bool[Array, " r"]:
    """Whether kept groups move by so little that κ holds on the whole way."""
    length = jnp.where(group.length > 0, group.length, 1)
    share = (jnp.sqrt(group.sizes) * way + way**2 / 2) / length
    is_small = (way <= 0.05 * jnp.sqrt(group.squares)) & (share <= 0.05)
    is_small &= 1.11 * decay * group.squares / length * share <= 0.4 * lightest
    is_small &= 2 * excess / decay <= 0.22 * group.squares
    push = jnp.linalg.norm(group.gradient, axis=1)
    is_small &= push + turn + 1.1 * decay * share <= decay
    return is_small | ~group.is_kept
