"""The field along the pinned entries, and the multipliers that hold them."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep.gated_sample import GatedSample
from simbias.numerics.conditionals import once
from simbias.numerics.small_cholesky import small_cholesky, solved

# Slots whose normals are computed at a time, and whose products with others are.
BLOCK = 8
_TILE = 32


class Slots(NamedTuple):
    """Entries that are pinned, or may be; −1 in a slot that is free.

    Used slots come first.  Entries whose normals are parallel, such as those of equal
    samples, meet z = 0 together and share a gate: `leader` is the slot of the first of
    them.
    """

    entry: Int[Array, " s"]
    leader: Int[Array, " s"]

    @property
    def is_used(self) -> Bool[Array, " s"]:
        """Slots that hold an entry."""
        return self.entry >= 0

    def is_leader(self) -> Bool[Array, " s"]:
        """Slots that hold the first of the entries that go together."""
        return self.is_used & (self.leader == _order(self.leader))


def free_slots(capacity: int) -> Slots:
    """Slots without entries, a whole number of blocks."""
    size = -(-capacity // BLOCK) * BLOCK
    return Slots(
        jnp.full(size, -1, jnp.int32),
        jnp.arange(size, dtype=jnp.int32),
    )


def _order(leader: Int[Array, " s"]) -> Int[Array, " s"]:
    return jnp.arange(leader.shape[0], dtype=leader.dtype)


def marked(
    entry: Int[Array, " s"], wanted: Bool[Array, " s"], like: Array
) -> Bool[Array, "n u"]:
    """Which entries stand in one of the wanted slots."""
    place = jnp.where(wanted & (entry >= 0), entry, like.size)
    flat = jnp.zeros(like.size, bool).at[place].set(True, mode="drop")
    return flat.reshape(like.shape)


def scales(
    sample: GatedSample, is_above: Bool[Array, "n u"], is_pinned: Bool[Array, "n u"]
) -> Float[Array, "n u"]:
    """Gates: 1 above, the slope below, 0 where pinned."""
    return jnp.where(is_pinned, 0, jnp.where(is_above, 1, sample.slope[None, :]))


class Rows(NamedTuple):
    """Normals of the entries in slots, their lengths and cosines; 0 in free slots.

    `count` slots are used, the first ones.
    """

    normal: Float[Array, "s p"]
    length: Float[Array, " s"]
    cosine: Float[Array, "s s"]
    count: Int[Array, ""]

    def along(self, velocity: Float[Array, " p"]) -> Float[Array, " s"]:
        """Components along the unit normals."""
        ends = _ends(self.normal.shape[0])
        low, parts = 0, []
        for high in ends:
            none = jnp.zeros(high - low, velocity.dtype)
            some = lambda low=low, high=high: self.normal[low:high] @ velocity
            parts.append(jax.lax.cond(self.count > low, some, lambda none=none: none))
            low = high
        return jnp.concatenate(parts)

    def combined(self, factor: Float[Array, " s"]) -> Float[Array, " p"]:
        """The sum of unit normals times factors, which are 0 in free slots."""
        low, ends = 0, _ends(self.normal.shape[0])
        total = jnp.zeros(self.normal.shape[1:], factor.dtype)
        for high in ends:
            more = lambda v, low=low, high=high: (
                v + factor[low:high] @ self.normal[low:high]
            )
            total = jax.lax.cond(self.count > low, more, lambda v: v, total)
            low = high
        return total

    def ratios(self, leader: Int[Array, " s"]) -> Float[Array, " s"]:
        """Factors by which normals are those of their leaders."""
        cosine = jnp.take_along_axis(self.cosine, leader[:, None], axis=1)[:, 0]
        ratio = self.length / jnp.where(self.length[leader] > 0, self.length[leader], 1)
        ratio = jnp.sign(cosine) * ratio
        is_one = leader == _order(leader)
        return jnp.where(is_one | (ratio == 0), 1, ratio)


def rows_of(
    sample: GatedSample,
    theta: Float[Array, " p"],
    scale: Float[Array, "n u"],
    entry: Int[Array, " s"],
    wanted: Bool[Array, " s"],
) -> Rows:
    """∇z of the wanted slots, block by block up to the last that is used."""
    units = scale.shape[1]
    size, count = entry.shape[0], jnp.sum(entry >= 0, dtype=jnp.int32)

    def normal(e):
        i, u = e // units, e % units
        z = lambda theta: sample.one(
            theta, sample.x[i], scale[i], jnp.zeros_like(scale[i])
        )[1]
        _, back = jax.vjp(z, theta)
        return back(jax.nn.one_hot(u, units, dtype=theta.dtype))[0]

    def body(carry):
        begin, normals, lengths = carry
        cut = lambda v: jax.lax.dynamic_slice_in_dim(v, begin, BLOCK)
        new = jax.vmap(normal)(jnp.maximum(cut(entry), 0))
        length = jnp.linalg.norm(new, axis=1)
        is_one = cut(wanted) & (length > 0)
        unit = jnp.where(is_one, 1 / jnp.where(is_one, length, 1), 0)[:, None] * new
        put = lambda v, new: jax.lax.dynamic_update_slice_in_dim(v, new, begin, 0)
        normals = put(normals, unit)
        return begin + BLOCK, normals, put(lengths, jnp.where(is_one, length, 0))

    start = (
        jnp.int32(0),
        jnp.zeros((size, theta.shape[0]), theta.dtype),
        jnp.zeros(size, theta.dtype),
    )
    _, unit, length = jax.lax.while_loop(lambda c: c[0] < count, body, start)
    lower = jnp.tril(_products(unit, count))
    return Rows(unit, length, lower + jnp.tril(lower, -1).T, count)


def _ends(size: int) -> list[int]:
    """Slots 0 to 32, to 64, to 128, …: what is computed of them, if one is used."""
    ends = [min(_TILE, size)]
    while ends[-1] < size:
        ends.append(min(2 * ends[-1], size))
    return ends


def _products(unit: Float[Array, "s p"], count: Int[Array, ""]) -> Float[Array, "s s"]:
    """Scalar products of the first `count` rows with all rows up to each of them.

    Tile by tile: for wide networks these products are most of the cost of a pin.
    """
    size = unit.shape[0]
    tile = min(_TILE, size)
    ends = _ends(size)

    def body(carry):
        begin, products = carry
        first = jnp.minimum(begin, size - tile)
        rows = jax.lax.dynamic_slice_in_dim(unit, first, tile)
        low, parts = 0, []
        for high in ends:
            none = jnp.zeros((tile, high - low), unit.dtype)
            some = lambda low=low, high=high: rows @ unit[low:high].T
            needs = first + tile > low
            parts.append(jax.lax.cond(needs, some, lambda none=none: none))
            low = high
        new = jnp.concatenate(parts, axis=1)
        put = jax.lax.dynamic_update_slice_in_dim(products, new, first, 0)
        return begin + tile, put

    start = jnp.int32(0), jnp.zeros((size, size), unit.dtype)
    return jax.lax.while_loop(lambda c: c[0] < count, body, start)[1]


def multipliers(
    rows: Rows, drive: Float[Array, " p"], is_held: Bool[Array, " s"]
) -> Float[Array, " s"]:
    """μ · |A| of the held slots such that drive + Aᵀμ is orthogonal to their normals.

    A ridge of some roundings and two refinements: normals may be dependent, and then
    the sum Aᵀμ is unique and μ is not.
    """
    is_held = is_held & (rows.length > 0)
    solve = _gram_solver(rows, is_held)
    mu = jnp.zeros_like(rows.length)
    for _ in range(3):
        left = jnp.where(is_held, -rows.along(drive + rows.combined(mu)), 0)
        mu = mu + solve(left)
    return jnp.where(is_held, mu, 0)


def _gram_solver(
    rows: Rows, is_held: Bool[Array, " s"]
) -> Callable[[Float[Array, " s"]], Float[Array, " s"]]:
    """G⁻¹ of the cosines of held slots, with a ridge; the identity for the others."""
    dtype = rows.cosine.dtype
    both = is_held[:, None] & is_held[None, :]
    ridge = 1000 * jnp.finfo(dtype).eps
    own = jnp.diag(jnp.where(is_held, 0, 1).astype(dtype) + ridge)
    gram = jnp.where(both, rows.cosine, 0) + own
    count = jnp.max(jnp.where(is_held, jnp.arange(1, 1 + is_held.shape[0]), 0))
    factor = small_cholesky(gram, count)
    return lambda v: solved(factor, v, count)


def gradient(
    sample: GatedSample, theta: Float[Array, " p"], scale: Float[Array, "n u"]
) -> tuple[Float[Array, " p"], Float[Array, "n k"], Float[Array, "n u"]]:
    """∇L + μθ under fixed gates, the outputs and the pre-activations."""

    def value(theta):
        out, z = sample.outputs(theta, scale)
        return sample.loss(out, sample.y, sample.weight), (out, z)

    of_theta, (out, z) = jax.grad(value, has_aux=True)(theta)
    if sample.weight_decay is not None:
        of_theta = of_theta + sample.weight_decay * theta
    return of_theta, out, z


def field(
    sample: GatedSample,
    theta: Float[Array, " p"],
    is_above: Bool[Array, "n u"],
    slots: Slots,
) -> tuple[Float[Array, " p"], Float[Array, "n u"]]:
    """θ' with fixed sides and pins, and the pre-activations."""
    scale = scales(sample, is_above, marked(slots.entry, slots.is_used, is_above))
    drive, _, z = gradient(sample, theta, scale)
    leads = slots.is_leader()

    def held(drive):
        rows = rows_of(sample, theta, scale, slots.entry, leads)
        return drive + rows.combined(multipliers(rows, drive, leads))

    return -once(jnp.any(slots.is_used), held, drive), z


def back_to_pins(
    sample: GatedSample,
    theta: Float[Array, " p"],
    is_above: Bool[Array, "n u"],
    slots: Slots,
) -> Float[Array, " p"]:
    """θ with z = 0 at the pins again, by a Newton step along their normals."""
    scale = scales(sample, is_above, marked(slots.entry, slots.is_used, is_above))
    leads = slots.is_leader()

    def moved(theta):
        _, z = sample.outputs(theta, scale)
        rows = rows_of(sample, theta, scale, slots.entry, leads)
        off = z.reshape(-1)[jnp.maximum(slots.entry, 0)]
        is_held = leads & (rows.length > 0)
        # The shortest δ with A δ = −z: solve for a multiple of the normals.
        target = jnp.where(is_held, off / jnp.where(is_held, rows.length, 1), 0)
        return theta - rows.combined(_gram_solver(rows, is_held)(target))

    return once(jnp.any(slots.is_used), moved, theta)
