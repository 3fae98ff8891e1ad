"""First zero of a cubic given by values and slopes at 0 and 1."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# An excursion counts if it is this many roundings deep.
_DEPTH = 10


class Cubic(NamedTuple):
    """p(0), p'(0), p(1), p'(1) of p(u) = h₀ + v₀ u + c₂ u² + c₃ u³, elementwise."""

    h0: Float[Array, "*s"]
    v0: Float[Array, "*s"]
    h1: Float[Array, "*s"]
    v1: Float[Array, "*s"]

    def coefficients(self) -> tuple[Array, Array]:
        """c₂ and c₃."""
        rise = self.h1 - self.h0
        return 3 * rise - 2 * self.v0 - self.v1, self.v0 + self.v1 - 2 * rise


def may_cross_twice(p: Cubic, rounding: Float[Array, ""]) -> Bool[Array, "c n"]:
    """Whether p may be negative between ends that are not.

    A cubic is above the least of its Bernstein coefficients, which are h₀, h₀ + v₀/3,
    h₁ − v₁/3 and h₁.
    """
    inner = jnp.minimum(3 * p.h0 + p.v0, 3 * p.h1 - p.v1)
    return (inner < 0) & (p.h0 > rounding) & (p.h1 >= -rounding)


def crosses_at_most_once(p: Cubic, rounding: Float[Array, ""]) -> Bool[Array, "c n"]:
    """Whether p has no zero to cross, or one and no minimum before the end.

    The Bernstein coefficients of p' are v₀, 3 (h₁ − h₀) − v₀ − v₁ and v₁: it has no
    more changes of sign than they have.
    """
    middle = 3 * (p.h1 - p.h0) - p.v0 - p.v1
    turns = (p.v1 > 0) | ((p.v0 < 0) & (middle > 0))
    return ~jnp.where(p.h1 < -rounding, turns, may_cross_twice(p, rounding))


def single_root(p: Cubic, rounding: Float[Array, ""]) -> Float[Array, "c n"]:
    """About where a plain p turns negative in [0, 1]; infinite if it does not.

    Good enough to say which of several comes first.  One step of Newton's method from
    the line between the ends.
    """
    c2, c3 = p.coefficients()
    ends = p.h1 < -rounding
    line = jnp.where(ends, p.h0 / jnp.where(ends, p.h0 - p.h1, 1), 0)
    value = p.h0 + line * (p.v0 + line * (c2 + line * c3))
    slope = p.v0 + line * (2 * c2 + line * 3 * c3)
    falls = slope < 0
    newton = line - value / jnp.where(falls, slope, -1)
    place = jnp.where(falls & (newton > 0) & (newton < 1), newton, line)
    place = jnp.where(p.h0 <= 0, 0, jnp.clip(place, 0, 1))
    return jnp.where(ends, place, jnp.inf)


def approximate_root(p: Cubic, rounding: Float[Array, ""]) -> Float[Array, "c n"]:
    """`single_root` for every cubic: p may also dip below zero and come back."""
    lowest = _minimum(p)
    c2, c3 = p.coefficients()
    depth = p.h0 + lowest * (p.v0 + lowest * (c2 + lowest * c3))
    inside = (lowest > 0) & (lowest < 1)
    dips = inside & (depth < -_DEPTH * rounding) & (p.h0 > rounding)
    # A parabola with its vertex at the minimum.
    ratio = jnp.where(dips, -depth / jnp.where(dips, p.h0 - depth, 1), 0)
    dipping = jnp.clip(lowest * (1 - jnp.sqrt(ratio)), 0, 1)
    return jnp.where(dips, dipping, single_root(p, rounding))


def first_root(p: Cubic) -> Float[Array, " c"]:
    """Zero of p between 0 and its minimum (or 1), by Newton with bisection.

    0 if p(0) ≤ 0; expects that p turns negative, see `approximate_root`.
    """
    c2, c3 = p.coefficients()
    lowest = _minimum(p)
    depth = p.h0 + lowest * (p.v0 + lowest * (c2 + lowest * c3))
    high = jnp.where((lowest > 0) & (lowest < 1) & (depth < 0), lowest, 1.0)
    high = high.astype(p.h0.dtype)

    def body(_, carry):
        low, high, u = carry
        value = p.h0 + u * (p.v0 + u * (c2 + u * c3))
        slope = p.v0 + u * (2 * c2 + u * 3 * c3)
        low, high = jnp.where(value > 0, u, low), jnp.where(value > 0, high, u)
        falls = slope < 0
        newton = u - value / jnp.where(falls, slope, -1)
        # At the zero the sign of p is that of a rounding, and not the same wherever a
        # compiler computes it: beside the bounds by that is not outside.
        inside = falls & (newton >= low - slack) & (newton <= high + slack)
        newton = jnp.clip(newton, low, high)
        return low, high, jnp.where(inside, newton, (low + high) / 2)

    zero, slack = jnp.zeros_like(p.h0), 8 * jnp.finfo(p.h0.dtype).eps
    _, _, u = jax.lax.fori_loop(0, 12, body, (zero, high, high / 2))
    return jnp.where(p.h0 <= 0, 0, u)


def _minimum(p: Cubic) -> Array:
    """Place of the local minimum of the cubic, −1 if it has none.

    p' = v₀ + 2 c₂ u + 3 c₃ u² with p'' = 2 √(c₂² − 3 c₃ v₀) > 0 there, hence
    u = (√… − c₂)/(3 c₃) = −v₀/(c₂ + √…), whichever does not cancel.
    """
    c2, c3 = p.coefficients()
    square = c2**2 - 3 * c3 * p.v0
    root = jnp.sqrt(jnp.maximum(square, 0))
    bottom = c2 + root
    cancels = c2 < 0
    first = -p.v0 / jnp.where(cancels | (bottom == 0), 1, bottom)
    is_cubic = c3 != 0
    second = jnp.where(is_cubic, (root - c2) / jnp.where(is_cubic, 3 * c3, 1), -1)
    place = jnp.where(cancels, second, jnp.where(bottom == 0, -1, first))
    return jnp.where(square > 0, place, -1)
