"""Times of events inside a step: roots, and pins that let go."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep import tolerances
from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.look import look
from simbias.flows._deep.signals import idle_entries
from simbias.flows._deep.sliding import Slots, marked, rows_of, scales

# Pre-activations are interpolated between these fractions of a step, and looked at on
# this many parts of it.
NODES = np.linspace(0, 1, 5)
PARTS = 16
GRID = np.linspace(0, 1, PARTS + 1)[1:]
# Lagrange polynomials of the nodes: coefficients, the constant first.
LAGRANGE = np.linalg.inv(np.vander(NODES, increasing=True))
ON_GRID = np.vander(GRID, len(NODES), increasing=True) @ LAGRANGE

Path = Callable[[Float[Array, ""]], Float[Array, " p"]]


def root_in(
    value: Callable[[Float[Array, ""]], Float[Array, ""]],
    low: Float[Array, ""],
    high: Float[Array, ""],
    guess: Float[Array, ""],
) -> Float[Array, ""]:
    """Where a value turns negative in a bracket: the guess, then secants and halves.

    The end of the last bracket at which the value is not positive.
    """

    def body(carry):
        low, high, at_low, at_high, count = carry
        secant = high - at_high * (high - low) / (at_high - at_low)
        middle = (low + high) / 2
        is_inside = (secant > low) & (secant < high) & (count % 3 != 2)
        at = jnp.where(is_inside, secant, middle)
        at = jnp.where((count == 0) & (guess > low) & (guess < high), guess, at)
        v = value(at)
        is_below = v < 0
        return (
            jnp.where(is_below, low, at),
            jnp.where(is_below, at, high),
            jnp.where(is_below, at_low, v),
            jnp.where(is_below, v, at_high),
            count + 1,
        )

    def goes(carry):
        low, high, _, at_high, count = carry
        width = 2 * jnp.finfo(low.dtype).eps * high
        return (high - low > width) & (count < 90) & (at_high != 0)

    start = low, high, value(low), value(high), jnp.int32(0)
    return jax.lax.while_loop(goes, body, start)[1]


class Release(NamedTuple):
    """The first time at which a multiplier is outside its bounds; 1 if none is."""

    fraction: Float[Array, ""]
    is_one: Bool[Array, ""]
    evaluations: Int[Array, ""]


def first_release(
    sample: GatedSample,
    path: Path,
    is_above: Bool[Array, "n u"],
    slots: Slots,
    until: Float[Array, ""],
    may_search: Bool[Array, ""],
) -> Release:
    """When the first pin lets go before a fraction of the step.

    Multipliers are looked at there; if one is outside, and `may_search`, when it left.
    """
    dtype = until.dtype
    scale = scales(sample, is_above, marked(slots.entry, slots.is_used, is_above))
    leads = slots.is_leader()
    # A little later than where `decide` lets go.
    small = tolerances.of_multiplier(dtype)

    def excess(at):
        theta = path(at)
        idle = idle_entries(sample, theta, scale)
        rows = rows_of(sample, theta, scale, slots.entry, slots.is_used)
        found = look(sample, theta, scale, slots, slots.is_used, rows, idle)
        bounds = found.bounds
        is_concave = bounds.high < bounds.low
        outside = jnp.where(is_concave, 1, bounds.excess())
        return jnp.max(jnp.where(leads, outside, -1)) + small / 2

    class Search(NamedTuple):
        low: Float[Array, ""]
        high: Float[Array, ""]
        at_low: Float[Array, ""]
        at_high: Float[Array, ""]
        is_inside: Bool[Array, ""]
        count: Int[Array, ""]

    width = 1e4 * jnp.finfo(dtype).eps

    def body(s):
        slope = (s.at_high - s.at_low) / (s.high - s.low)
        secant = s.high - s.at_high / jnp.where(slope != 0, slope, 1)
        is_good = (secant > s.low) & (secant < s.high) & (s.count % 3 != 2)
        inner = jnp.where(is_good, secant, (s.low + s.high) / 2)
        at = jnp.where(s.is_inside, inner, until)
        v = excess(at)
        is_out = v > 0
        return Search(
            low=jnp.where(is_out, s.low, at),
            high=jnp.where(is_out, at, s.high),
            at_low=jnp.where(is_out, s.at_low, v),
            at_high=jnp.where(is_out, v, s.at_high),
            is_inside=s.is_inside | is_out,
            count=s.count + 1,
        )

    def goes(s):
        is_wide = (s.high - s.low > width * until) & (s.count < 60)
        is_near = s.at_high < small / 4
        return jnp.where(s.is_inside, is_wide & ~is_near & may_search, s.low < until)

    no = Search(
        low=jnp.where(jnp.any(slots.is_used), 0, until).astype(dtype),
        high=jnp.asarray(until, dtype),
        at_low=-small * jnp.ones((), dtype),
        at_high=jnp.ones((), dtype),
        is_inside=jnp.array(False),
        count=jnp.int32(0),
    )
    end = jax.lax.while_loop(goes, body, no)
    return Release(end.high, end.is_inside, end.count)
