"""The field at a point under some sides and pins, and what holds the pins."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.signals import own_signals
from simbias.flows._deep.sliding import Rows, Slots, gradient, multipliers


class Bounds(NamedTuple):
    """Multipliers of the leaders, and between what they may lie."""

    multiplier: Float[Array, " s"]
    low: Float[Array, " s"]
    high: Float[Array, " s"]

    def excess(self) -> Float[Array, " s"]:
        """How far the multiplier is outside, as a share; negative inside."""
        outside = jnp.maximum(self.multiplier - self.high, self.low - self.multiplier)
        size = jnp.maximum(self.size(), jnp.abs(self.multiplier))
        return outside / jnp.where(size > 0, size, 1)

    def size(self) -> Float[Array, " s"]:
        """Of the larger bound."""
        return jnp.maximum(jnp.abs(self.low), jnp.abs(self.high))


class Look(NamedTuple):
    """The field at a point under some sides and pins, and what it says of the slots."""

    field: Float[Array, " p"]
    speed: Float[Array, " s"]
    bounds: Bounds


def look(
    sample: GatedSample,
    theta: Float[Array, " p"],
    scale: Float[Array, "n u"],
    slots: Slots,
    is_pinned: Bool[Array, " s"],
    rows: Rows,
    is_idle: Bool[Array, "n u"],
) -> Look:
    """The field with the pinned slots held, and the bounds of all leaders."""
    drive, out, _ = gradient(sample, theta, scale)
    leads = slots.is_leader()
    scaled = multipliers(rows, drive, leads & is_pinned)
    of_theta = -(drive + rows.combined(scaled))
    mu = scaled / jnp.where(rows.length > 0, rows.length, 1)
    ratio = rows.ratios(slots.leader)
    bounds = _bounds(sample, theta, scale, slots, ratio, is_pinned, mu, out, is_idle)
    return Look(of_theta, rows.length * rows.along(of_theta), bounds)


def _bounds(
    sample: GatedSample,
    theta: Float[Array, " p"],
    scale: Float[Array, "n u"],
    slots: Slots,
    ratio: Float[Array, " s"],
    is_pinned: Bool[Array, " s"],
    mu: Float[Array, " s"],
    out: Float[Array, "n k"],
    is_idle: Bool[Array, "n u"],
) -> Bounds:
    """[slope · g, g] of every leader, summed over the entries that go with it.

    The multiplier of a leader is that of all its entries.  What each of them passes on
    to the layers before needs its own share, known from the last layer down.
    """
    units, size = scale.shape[1], slots.entry.shape[0]
    slope = sample.slope[jnp.maximum(slots.entry, 0) % units]
    place = jnp.where(slots.is_used, slots.entry, scale.size)
    is_up = ratio > 0
    total = lambda v: jax.ops.segment_sum(v, slots.leader, size)

    leads = slots.is_leader() & is_pinned
    is_alone = total(jnp.ones_like(mu))[slots.leader] == 1

    def body(_, carry):
        share, *_ = carry
        held = jnp.zeros(scale.size, theta.dtype).at[place].set(share, mode="drop")
        held = held.reshape(scale.shape)
        g = own_signals(sample, theta, scale, is_idle, out, held, slots.entry)
        g = jnp.where(slots.is_used, g, 0)
        low = total(jnp.where(is_up, slope, 1) * ratio * g)
        high = total(jnp.where(is_up, 1, slope) * ratio * g)
        is_open = high > low
        alpha = (mu - low) / jnp.where(is_open, high - low, 1)
        alpha = jnp.where(is_open, jnp.clip(alpha, 0, 1), 0.5)[slots.leader]
        alpha = jnp.where(is_up, alpha, 1 - alpha)
        share = jnp.where(is_alone, mu, g * (slope + (1 - slope) * alpha))
        return jnp.where(is_pinned & slots.is_used, share, 0), low, high

    first = jnp.where(leads, mu, 0), jnp.zeros_like(mu), jnp.zeros_like(mu)
    is_shared = jnp.any(is_pinned & slots.is_used & ~slots.is_leader())
    passes = jnp.where(is_shared, 1 + len(sample.shapes), 1)
    _, low, high = jax.lax.fori_loop(0, passes, body, first)
    return Bounds(mu, low, high)
