"""First zero of a cubic given by values and slopes at 0 and 1."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# An excursion counts if it is this many roundings deep.
_DEPTH = 10


def rough_root(
    h0: Float[Array, "c n"],
    v0: Float[Array, "c n"],
    h1: Float[Array, "c n"],
    v1: Float[Array, "c n"],
    rounding: Float[Array, "c 1"],
) -> tuple[Bool[Array, "c n"], Float[Array, "c n"]]:
    """Whether p turns negative in [0, 1], and about where it first does.

    p ends below −rounding, or dips below zero in between.  The place is good enough
    to say which of several comes first.
    """
    c2, c3 = _coefficients(h0, v0, h1, v1)
    lowest = _minimum(v0, c2, c3)
    depth = h0 + lowest * (v0 + lowest * (c2 + lowest * c3))
    dips = (lowest > 0) & (lowest < 1) & (depth < -_DEPTH * rounding) & (h0 > rounding)
    ends = h1 < -rounding
    # A parabola with its vertex at the minimum.
    ratio = jnp.where(dips, -depth / jnp.where(dips, h0 - depth, 1), 0)
    dipping = lowest * (1 - jnp.sqrt(ratio))
    line = jnp.where(ends, h0 / jnp.where(ends, h0 - h1, 1), 0)
    value = h0 + line * (v0 + line * (c2 + line * c3))
    slope = v0 + line * (2 * c2 + line * 3 * c3)
    falls = slope < 0
    newton = line - value / jnp.where(falls, slope, -1)
    ending = jnp.where(falls & (newton > 0) & (newton < 1), newton, line)
    place = jnp.where(dips, dipping, ending)
    return dips | ends, jnp.where(h0 <= 0, 0, jnp.clip(place, 0, 1))


def first_root(
    h0: Float[Array, " c"],
    v0: Float[Array, " c"],
    h1: Float[Array, " c"],
    v1: Float[Array, " c"],
) -> Float[Array, " c"]:
    """Zero of p between 0 and its minimum (or 1), by Newton with bisection.

    0 if p(0) ≤ 0; expects that p turns negative, see `rough_root`.
    """
    c2, c3 = _coefficients(h0, v0, h1, v1)
    lowest = _minimum(v0, c2, c3)
    depth = h0 + lowest * (v0 + lowest * (c2 + lowest * c3))
    high = jnp.where((lowest > 0) & (lowest < 1) & (depth < 0), lowest, 1.0)
    high = high.astype(h0.dtype)

    def body(_, carry):
        low, high, u = carry
        value = h0 + u * (v0 + u * (c2 + u * c3))
        slope = v0 + u * (2 * c2 + u * 3 * c3)
        low, high = jnp.where(value > 0, u, low), jnp.where(value > 0, high, u)
        falls = slope < 0
        newton = u - value / jnp.where(falls, slope, -1)
        inside = falls & (newton >= low) & (newton <= high)
        return low, high, jnp.where(inside, newton, (low + high) / 2)

    zero = jnp.zeros_like(h0)
    _, _, u = jax.lax.fori_loop(0, 12, body, (zero, high, high / 2))
    return jnp.where(h0 <= 0, 0, u)


def _coefficients(h0: Array, v0: Array, h1: Array, v1: Array) -> tuple[Array, Array]:
    """Of p = h0 + v0 u + c2 u² + c3 u³, the last two."""
    rise = h1 - h0
    return 3 * rise - 2 * v0 - v1, v0 + v1 - 2 * rise


def _minimum(v0: Array, c2: Array, c3: Array) -> Array:
    """Place of the local minimum of the cubic, −1 if it has none.

    p' = v0 + 2 c2 u + 3 c3 u² with p'' = 2 √(c2² − 3 c3 v0) > 0 there, hence
    u = (√… − c2)/(3 c3) = −v0/(c2 + √…), whichever does not cancel.
    """
    square = c2**2 - 3 * c3 * v0
    root = jnp.sqrt(jnp.maximum(square, 0))
    bottom = c2 + root
    cancels = c2 < 0
    first = -v0 / jnp.where(cancels | (bottom == 0), 1, bottom)
    is_cubic = c3 != 0
    second = jnp.where(is_cubic, (root - c2) / jnp.where(is_cubic, 3 * c3, 1), -1)
    place = jnp.where(cancels, second, jnp.where(bottom == 0, -1, first))
    return jnp.where(square > 0, place, -1)
