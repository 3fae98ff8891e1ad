"""Neurons of one class, moved by a few that stand for all of them.

While the pattern is frozen, the neurons of a class (same sides, same pins) obey one
linear system, y' = A y with y = (w, a), and drive the others through Z = Σ y yᵀ alone.
So do q = e + k representatives, the columns of a root of it, Z = L Lᵀ: every neuron is
y = L c, and stays so.  A Runge–Kutta method takes y and L to the same places, up to
rounding, and Σ |y|² = |L|²: norms over all neurons are those over representatives.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt

from simbias.flows._relu.course import Pins
from simbias.flows._relu.frozen import FrozenField, Rates, Sample, frozen_field
from simbias.flows._relu.norms import norm_of_rows

# Classes that there is room for.
_ROOM = 32
# Neurons for one representative, below which they are not worth their bookkeeping.
_LEAST = 4
# Share of the largest eigenvalue of Z, in roundings, below which others are not known.
_UNKNOWN = 16


class Representatives(eqx.Module):
    """The classes of all neurons, and how neurons are made of representatives.

    `first` is a neuron of each class, `kind` the class of each neuron, `part` its c,
    `root` the L of each class (rows: w, then a).  Where there are more classes than
    room `is_enough` is false, and the rest means nothing.
    """

    first: Int[Array, " r"]
    kind: Int[Array, " m"]
    part: Float[Array, "m q"]
    root: Float[Array, "r q q"]
    is_enough: Bool[Array, ""]

    def field(
        self,
        is_above: Bool[Array, "m n"],
        pins: Pins,
        sample: Sample,
        slope: float,
    ) -> FrozenField:
        """The frozen field of the representatives."""
        of_each = lambda v: jnp.repeat(v[self.first], self.root.shape[1], axis=0)
        plane, dual = of_each(pins.plane), of_each(pins.dual)
        return frozen_field(of_each(is_above), slope, plane, dual, sample)

    def weights(self, e: int) -> tuple[Float[Array, "e s"], Float[Array, "k s"]]:
        """Their own, in the layout of the field."""
        q = self.root.shape[1]
        flat = self.root.transpose(1, 0, 2).reshape(q, -1)
        return flat[:e], flat[e:]

    def down_rates(self, rates: Rates) -> Rates:
        """Their velocities, from those of the neurons; neurons last."""
        w, a = self.down(rates.w, rates.a)
        moment = jnp.repeat(rates.moment[:, :, self.first], self.root.shape[1], axis=2)
        return Rates(w, a, moment, rates.residual)

    def down(
        self, w: Float[Array, "e m"], a: Float[Array, "k m"]
    ) -> tuple[Float[Array, "e s"], Float[Array, "k s"]]:
        """What representatives do where neurons do (w, a), linear in their y."""
        r, q, _ = self.root.shape
        y = jnp.concatenate([w, a])
        each = (y[:, None, :] * self.part.T[None, :, :]).reshape(q * q, -1)
        total = jax.ops.segment_sum(each.T, self.kind, r).reshape(r, q, q)
        flat = total.transpose(1, 0, 2).reshape(q, r * q)
        return flat[: w.shape[0]], flat[w.shape[0] :]

    def up(
        self, w: Float[Array, "e s"], a: Float[Array, "k s"]
    ) -> tuple[Float[Array, "e m"], Float[Array, "k m"]]:
        """What neurons do where representatives do (w, a)."""
        r, q, _ = self.root.shape
        each = jnp.concatenate([w, a]).reshape(q, r, q)[:, self.kind, :]
        y = jnp.sum(each * self.part[None, :, :], axis=2)
        return y[: w.shape[0]], y[w.shape[0] :]

    def up_rates(self, rates: Rates) -> Rates:
        """The same, with moments; neurons last."""
        w, a = self.up(rates.w, rates.a)
        moment = rates.moment[:, :, :: self.root.shape[1]][:, :, self.kind]
        return Rates(w, a, moment, rates.residual)


def may_be_worth_it(m: int, q: int) -> bool:
    """Whether m neurons are many more than the representatives there is room for."""
    return m >= _LEAST * _ROOM * q


def representatives(
    w: Float[Array, "m e"],
    a: Float[Array, "m k"],
    is_above: Bool[Array, "m n"],
    pins: Pins,
) -> Representatives:
    """Those of a network; which neurons are alike is seen from two hashes of 32 bits.

    That neurons of equal hashes are alike is then checked, so that nothing is left to
    chance: if two are not, there are not enough representatives.
    """
    first, kind, is_enough = _classes(_hashes(is_above, pins.plane))
    same = jnp.all(is_above == is_above[first][kind]) & jnp.all(
        pins.plane == pins.plane[first][kind]
    )
    # In units of the largest of each class: squares of small weights may underflow.
    size = jnp.zeros(_ROOM, w.dtype).at[kind].max(norm_of_rows(w, a))
    unit = jnp.where(size > 0, size, 1)
    y = jnp.concatenate([w, a], axis=1) / unit[kind][:, None]
    q = y.shape[1]
    square = (y[:, :, None] * y[:, None, :]).reshape(-1, q * q)
    total = jax.ops.segment_sum(square, kind, _ROOM).reshape(_ROOM, q, q)
    value, vector = jnp.linalg.eigh(total)
    least = _UNKNOWN * jnp.finfo(w.dtype).eps * value[:, -1:]
    least = jnp.where(least > 0, least, 1)
    length = jnp.sqrt(jnp.maximum(value, least))
    part = jnp.sum(vector[kind] * y[:, :, None], axis=1) / length[kind]
    root = unit[:, None, None] * vector * length[:, None, :]
    # An empty class, or one of neurons that are 0, moves nothing.
    root = jnp.where(value[:, -1:, None] > 0, root, 0)
    return Representatives(first, kind, part, root, is_enough & same)


def _hashes(
    is_above: Bool[Array, "m n"], plane: Int[Array, "m p"]
) -> UInt[Array, "m 2"]:
    """Two sums of random odd numbers: over the planes above, and over slots of pins."""
    n, p = is_above.shape[1], plane.shape[1]
    salt = jax.random.bits(jax.random.key(0), (2, n + p), jnp.uint32) | 1
    held = (plane + 1).astype(jnp.uint32)

    count = lambda v: jnp.sum(v, axis=1, dtype=jnp.uint32)
    sides = lambda s: count(jnp.where(is_above, s[None, :n], 0))
    one = lambda s: sides(s) + count(held * s[None, n:])
    return jnp.stack([one(salt[0]), one(salt[1])], axis=1)


def _classes(
    hashes: UInt[Array, "m 2"],
) -> tuple[Int[Array, " r"], Int[Array, " m"], Bool[Array, ""]]:
    """A neuron of each class, the class of each neuron, and whether all have one."""
    m = hashes.shape[0]

    def name(carry):
        count, first, kind = carry
        leader = jnp.argmax(kind < 0).astype(jnp.int32)
        alike = (kind < 0) & jnp.all(hashes == hashes[leader][None, :], axis=1)
        return count + 1, first.at[count].set(leader), jnp.where(alike, count, kind)

    more = lambda carry: jnp.any(carry[2] < 0) & (carry[0] < _ROOM)
    start = jnp.int32(0), jnp.zeros(_ROOM, jnp.int32), jnp.full(m, -1, jnp.int32)
    _, first, kind = jax.lax.while_loop(more, name, start)
    return first, jnp.maximum(kind, 0), jnp.all(kind >= 0)
