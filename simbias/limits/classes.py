"""Neurons that obey one linear system: active on the same samples, on the same planes.

A neuron of pattern g, with P the projection off the hyperplanes that it slides on, and
r = ∂L/∂f, obeys while the pattern stands

    w' = a P q,  a' = q·w,  q = −Σᵢ rᵢ xᵢ  over its active samples.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.limits.neurons import Neurons, Sample
from simbias.numerics.alike import alike
from simbias.numerics.planes import Planes, find_planes
from simbias.numerics.precision import matmul

# Roundings of a product; normals whose Gram determinant is below the share are one.
_ROUNDINGS, _FLAT = 1000, 1e-8
# Share of the largest push above which one keeps a neuron dead as the network is now.
_FIRM = 1e-3
# Cosine of inputs below which they are orthogonal.
_ORTHOGONAL = 1e-13


class SlidingPlanes(NamedTuple):
    """Per class: the planes it slides on, by their first row (−1: none)."""

    row: Int[Array, "r p"]
    normal: Float[Array, "r p e"]
    dual: Float[Array, "r p e"]

    def project(self, vector: Float[Array, "r e"]) -> Float[Array, "r e"]:
        """P v = v − Σₛ (uₛ·v) nₛ, with n the unit normals and u their dual."""
        part = jnp.sum(self.dual * vector[:, None, :], axis=2)
        return vector - jnp.sum(part[:, :, None] * self.normal, axis=1)


class Classes(NamedTuple):
    """What the neurons of a network have in common.

    Attributes:
        kind: class of each neuron; 0, which says nothing, for one that nothing moves.
        is_moved: whether something can move a neuron: it is not 0, and it is leaky,
            active somewhere, or on a plane that does not keep it dead.
        first: a neuron of each class.
        is_class: whether there is such a class.
        active: samples strictly above 0.
        on: samples on the planes that it slides on.
        touches: samples whose planes a neuron that is not moved is on, and those
            without a force along which neurons are not told apart (`is_by_force`).
        factor: what multiplies a sample in its force: 1, the slope, or 0 on a plane.
        sliding: those planes.
        is_sound: their normals are independent, and there is room for them.
        is_enough: every neuron has a class.
        slack: how far a neuron is from a plane to rounding.
        planes: hyperplanes of the sample.
    """

    kind: Int[Array, " m"]
    is_moved: Bool[Array, " m"]
    first: Int[Array, " r"]
    is_class: Bool[Array, " r"]
    active: Bool[Array, "r n"]
    on: Bool[Array, "r n"]
    touches: Bool[Array, "m n"]
    factor: Float[Array, "r n"]
    sliding: SlidingPlanes
    is_sound: Bool[Array, " r"]
    is_enough: Bool[Array, ""]
    slack: Float[Array, " m"]
    planes: Planes


def classes(
    neurons: Neurons,
    sample: Sample,
    room: int,
    most_sliding: int,
    *,
    is_by_sign: bool,
    residual: Float[Array, " n"] | None = None,
    is_by_force: bool = False,
) -> Classes:
    """The classes of a network.

    Args:
        neurons: its weights.
        sample: what acts on them.
        room: classes there is room for.
        most_sliding: planes per class there is room for.
        is_by_sign: whether neurons with outputs of different sign are of different
            classes.
        residual: ∂L/∂f.  A neuron that is active nowhere and on planes counts as dead
            if these push it back by more than a share of the largest push, and if its
            output weight keeps its sign meanwhile.  Without `residual` it counts as
            dead, as the flow takes it, unless a plane of it is that of mirror images,
            so that one of them is active on either side.
        is_by_force: whether a ReLU neuron on the plane of a sample that is orthogonal
            to all that it is active on counts as inactive there, and not as sliding:
            nothing moves it off, and neurons on the plane and below it have one force.
            Then a neuron is on a plane within the roundings of its entries, not of its
            length: a decay moves neurons ever nearer to planes of such samples.
    """
    w, a, slope, eps = neurons.w, neurons.a, neurons.slope, neurons.eps
    x, h = sample.x, matmul(w, sample.x.T)
    length = jnp.linalg.norm(x, axis=1)
    unit = x / jnp.where(length > 0, length, 1)[:, None]
    flat = find_planes(unit, eps)
    is_seen = ((sample.weight > 0) & (length > 0))[None, :]
    slack = _ROUNDINGS * eps * jnp.linalg.norm(w, axis=1)
    near = slack[:, None] * length[None, :]
    if is_by_force:
        near = _ROUNDINGS * eps * matmul(jnp.abs(w), jnp.abs(x).T)
    is_on = (jnp.abs(h) <= near)[:, flat.first] & is_seen
    is_active = (h > 0) & is_seen & ~is_on
    is_some = jnp.any(w != 0, axis=1) | (a != 0)
    touches = is_on & (is_some & ~jnp.any(is_active, axis=1))[:, None]
    if residual is None:
        back = flat.totals(flat.is_reversed.astype(x.dtype)[:, None])[:, 0]
        is_kept = ~jnp.any(touches & (back > 0)[flat.first][None, :], axis=1)
    else:
        push = _pushes(flat, residual * length)
        is_kept = _are_pushed_back(touches, a, push, _FIRM * jnp.max(jnp.abs(push)))
        # Above one plane a² − (w·n)² stands still, above several a² − |w|².
        planes = jnp.sum(touches & flat.is_first()[None, :], axis=1)
        above = jnp.where(planes > 1, jnp.linalg.norm(w, axis=1), slack)
        is_kept &= (jnp.abs(a) > above) | (planes == 0) | neurons.is_output_frozen
    is_alive = jnp.any(is_active, axis=1) | ~is_kept | (slope > 0)
    is_moved = is_some & is_alive
    touches &= ~is_moved[:, None]
    if is_by_force and slope == 0:
        apart = is_on & is_active.any(axis=1, keepdims=True)
        apart &= ~acts_along(is_active, x)
        touches, is_on = touches | apart, is_on & ~apart
    rows = [is_active, is_on] + [(a > 0)[:, None]] * is_by_sign
    first, kind, is_enough = alike(jnp.concatenate(rows, axis=1), is_moved, room)
    is_class = jnp.zeros(room, bool).at[kind].max(is_moved)
    only = is_class[:, None]
    active, on = is_active[first] & only, is_on[first] & only
    factor = jnp.where(active, 1, jnp.where(on, 0, slope))
    found, is_sound = _sliding_planes(on & flat.is_first()[None, :], unit, most_sliding)
    return Classes(
        *(kind, is_moved, first, is_class, active, on, touches),
        *(jnp.where(only, factor, 0), found, is_sound, is_enough, slack, flat),
    )


def acts_along(
    is_acting: Bool[Array, "r n"], x: Float[Array, "n e"]
) -> Bool[Array, "r n"]:
    """Whether any sample that acts is not orthogonal, to rounding, to each sample."""
    length = jnp.linalg.norm(x, axis=1)
    product = jnp.abs(matmul(x, x.T))
    meets = product > _ORTHOGONAL * length[:, None] * length[None, :]
    return matmul(is_acting.astype(x.dtype), meets.astype(x.dtype)) > 0


def stay_dead(
    of: Classes,
    a: Float[Array, " m"],
    sample: Sample,
    residual: Float[Array, " n"],
    changes: Float[Array, " n"],
) -> Bool[Array, " m"]:
    """Whether neurons that count as dead are kept so by all planes that they are on.

    Args:
        of: the classes.
        a: output weights.
        sample: what acts on them.
        residual: ∂L/∂f.
        changes: of it, sample by sample: √ of what their squares add up to.
    """
    length = jnp.linalg.norm(sample.x, axis=1)
    push = _pushes(of.planes, residual * length)
    least = jnp.sqrt(_pushes(of.planes, (changes * length) ** 2))
    return _are_pushed_back(of.touches, a, push, least)


def _pushes(planes: Planes, pull: Float[Array, " n"]) -> Float[Array, " n"]:
    """Σ |x| r over the samples of each sample's plane that point as it does."""
    back = planes.is_reversed
    total = lambda kept: planes.totals(jnp.where(kept, pull, 0)[:, None])[:, 0]
    return jnp.where(back, total(back)[planes.first], total(~back)[planes.first])


def _are_pushed_back(
    touches: Bool[Array, "m n"],
    a: Float[Array, " m"],
    push: Float[Array, " n"],
    least: Float[Array, "*n"],
) -> Bool[Array, " m"]:
    """Whether a·push > |a|·least, for all samples whose planes a neuron touches."""
    of_positive, of_negative = (push > least)[None, :], (push < -least)[None, :]
    sign = jnp.sign(a)[:, None]
    is_back = jnp.where(sign > 0, of_positive, of_negative) & (sign != 0)
    return jnp.all(is_back | ~touches, axis=1)


def _sliding_planes(
    is_on: Bool[Array, "r n"], unit: Float[Array, "n e"], room: int
) -> tuple[SlidingPlanes, Bool[Array, " r"]]:
    """As many as there is room for; with more, or dependent ones, it is not sound."""
    count = min(room, *unit.shape)
    row = jnp.argsort(~is_on, axis=1, stable=True)[:, :count].astype(jnp.int32)
    row = jnp.where(jnp.take_along_axis(is_on, row, axis=1), row, -1)
    is_pin = row >= 0
    normal = jnp.where(is_pin[:, :, None], unit[jnp.maximum(row, 0)], 0)
    gram = jnp.einsum("gpe,gqe->gpq", normal, normal, precision="highest")
    gram = gram + jnp.where(is_pin, 0, 1)[:, :, None] * jnp.eye(count)[None]
    dual, is_sound = _solved(gram, normal)
    return SlidingPlanes(row, normal, dual), is_sound & (
        jnp.sum(is_on, axis=1) <= count
    )


def _solved(
    gram: Float[Array, "r p p"], right: Float[Array, "r p e"]
) -> tuple[Float[Array, "r p e"], Bool[Array, " r"]]:
    """Gram matrices of unit vectors inverted, and whether they are not next to flat.

    By elimination: calls of LAPACK for many matrices may wait for each other for ever
    (`numerics.factorisations`).
    """
    count = gram.shape[1]

    def eliminate(i, carry):
        table, volume = carry
        row = jax.lax.dynamic_index_in_dim(table, i, 1)
        pivot = jax.lax.dynamic_index_in_dim(row, i, 2)
        row = row / jnp.where(pivot > _FLAT, pivot, 1)
        column = jax.lax.dynamic_index_in_dim(table, i, 2)
        is_pivot = (jnp.arange(count) == i)[None, :, None]
        table = jnp.where(is_pivot, row, table - column * row)
        return table, volume * pivot[:, 0, 0]

    start = jnp.concatenate([gram, right], axis=2), jnp.ones(len(gram), gram.dtype)
    table, volume = jax.lax.fori_loop(0, count, eliminate, start)
    return table[:, :, count:], volume > _FLAT
