"""Runge–Kutta–Chebyshev: an explicit method for stiff, symmetric fields.

With s evaluations a step may be about 0.65 s² / ρ long, where ρ is the largest rate of
decay of the field; an ordinary method of s stages reaches about 0.6 s / ρ.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

# Damping: |R| ≤ 1 − ε/3 inside the interval of stability.
_DAMPING = 2 / 13
MAX_STAGES = 64
ERROR_ORDER = 3
Y = TypeVar("Y")


def stages_for(stretch: Float[Array, ""]) -> Int[Array, ""]:
    """Least s ≥ 2 that is stable for ρ·h = stretch: β(s) = ⅔ (s² − 1)(1 − 2ε/15)."""
    square = 1 + stretch / (2 / 3 * (1 - 2 / 15 * _DAMPING))
    stages = jnp.ceil(jnp.sqrt(jnp.minimum(square, MAX_STAGES**2)))
    return jnp.clip(stages.astype(jnp.int32), 2, MAX_STAGES)


def largest_stretch() -> float:
    """ρ·h that `MAX_STAGES` can take."""
    return 2 / 3 * (MAX_STAGES**2 - 1) * (1 - 2 / 15 * _DAMPING)


def chebyshev_step(
    field: Callable[[Y], Y],
    y0: Y,
    rate: Y,
    length: Float[Array, ""],
    stages: Int[Array, ""],
) -> Y:
    """y(t + h) of y' = F(y), second order; costs s − 1 evaluations beside F(y(t)).

        D₀ = 0,   D₁ = μ̃₁ h F₀,   Fⱼ = F(y + Dⱼ),   y(t + h) ≈ y + Dₛ
        Dⱼ = μⱼ Dⱼ₋₁ + νⱼ Dⱼ₋₂ + μ̃ⱼ h Fⱼ₋₁ + γ̃ⱼ h F₀,   j = 2 … s

    Displacements instead of the stages themselves: their rounding is relative to them.

    Args:
        field: F, autonomous, of a pytree.
        y0: y(t).
        rate: F₀ = F(y(t)).
        length: h.
        stages: s ≥ 2.

    Reference: Sommeijer, Shampine & Verwer (1998), J. Comput. Appl. Math. 88, 315.
    """
    dtype = length.dtype
    s = stages.astype(dtype)
    w0 = 1 + _DAMPING / s**2
    angle = jnp.arccosh(w0)
    value, slope = jnp.cosh(s * angle), s * jnp.sinh(s * angle) / jnp.sinh(angle)
    w1 = slope * (w0**2 - 1) / (s**2 * value - w0 * slope)

    def polynomials(last, before):
        # Tⱼ(w₀) with its first two derivatives, from those of j − 1 and j − 2.
        (t, dt, ddt), (t2, dt2, ddt2) = last, before
        return (
            2 * w0 * t - t2,
            2 * w0 * dt + 2 * t - dt2,
            2 * w0 * ddt + 4 * dt - ddt2,
        )

    one, zero = jnp.ones((), dtype), jnp.zeros((), dtype)
    first, second = (one, zero, zero), (w0, one, zero)
    third = polynomials(second, first)
    weight = third[2] / third[1] ** 2
    moved = jax.tree.map(lambda f: weight * w1 * length * f, rate)
    added = lambda d: jax.tree.map(jnp.add, y0, d)

    def body(carry):
        j, newer, older, b, b_older, last, before = carry
        following = polynomials(last, before)
        # b₀ = b₁ = b₂.
        b_new = following[2] / following[1] ** 2
        mu, nu = 2 * b_new * w0 / b, -b_new / b_older
        mu_h = 2 * b_new * w1 / b * length
        gamma_h = -(1 - b * last[0]) * mu_h
        combine = lambda d, c, f, f0: mu * d + nu * c + mu_h * f + gamma_h * f0
        newest = jax.tree.map(combine, newer, older, field(added(newer)), rate)
        return j + 1, newest, newer, b_new, b, following, last

    still = jax.tree.map(jnp.zeros_like, y0)
    start = (jnp.int32(2), moved, still, weight, weight, second, first)
    return added(jax.lax.while_loop(lambda c: c[0] <= stages, body, start)[1])


def error_estimate(y0: Y, y1: Y, rate0: Y, rate1: Y, length: Float[Array, ""]) -> Y:
    """0.8 (y₀ − y₁) + 0.4 h (F₀ + F₁), of third order in h."""
    estimate = lambda a, b, f, g: 0.8 * (a - b) + 0.4 * length * (f + g)
    return jax.tree.map(estimate, y0, y1, rate0, rate1)
