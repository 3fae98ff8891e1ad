"""Two classes on two lines through the origin: no linear classifier separates them."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integer

Points = Float[Array, "n 2"]
SIGMA = 0.1 / math.sqrt(2)


def xor_clusters(
    key: PRNGKeyArray,
    *,
    n: int = 512,
    angle: Real = math.pi / 2,
    sigma: Real = SIGMA,
    clip: Real = 0.2,
    is_reflected: bool = False,
) -> Dataset:
    """Clusters at ±e with label −1 and at ±u with label +1, where cos(e, u) = cos α.

        x = ±(1 + z₁) e₁ + z₂ e₂                          y = −1
        x = ±(1 + z₁) u  + z₂ u⟂,   u = (cos α, sin α)    y = +1,   u⟂ = (sin α, −cos α)

    All four clusters have the same z ~ N(0, σ²I) given |z| < clip, so at α = π/2 the
    classes are mirror images.  With `is_reflected` every z comes with −z₂ as well; the
    sample is then symmetric in both lines.

    The published code draws n/4 points (n/16 if reflected) and throws away those
    beyond `clip`, so that its n varies (496 of 512; 224 of 256, every point of it
    twice); here all n points are drawn inside.

    Args:
        key: random key.
        n: samples, a multiple of 4, or of 8 if reflected.
        angle: α between the lines, in (0, π).
        sigma: noise per coordinate.
        clip: largest |z|.
        is_reflected: add the mirror image of every point in the line of its cluster.

    Returns:
        The sample, without noise in the labels and without a test sample; `features`
        are e₁ and u.

    Raises:
        ValueError: for a size out of range or no multiple.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, section 5 and figures 1
    (α = π/2, σ = 0.005, clip 0.01, reflected) and 2 (α = π/2 and π/3).
    """
    positive_integer("n", n)
    for name, value in (("angle", angle), ("sigma", sigma), ("clip", clip)):
        positive(name, value)
    parts = 8 if is_reflected else 4
    if n % parts:
        raise BadInput(
            f"`n` must be a multiple of {parts}, got {n}. "
            f"Example: n={parts * (n // parts + 1)}."
        )
    z = _clipped_normal(key, n // parts, sigma, clip)
    if is_reflected:
        z = jnp.concatenate([z, z * jnp.array([1.0, -1.0])[None, :]])
    alpha = jnp.asarray(angle, jnp.float64)
    cos, sin = jnp.cos(alpha), jnp.sin(alpha)
    first, second = jnp.array([1.0, 0.0]), jnp.stack([cos, sin])
    x = jnp.concatenate(
        [
            *_two_clusters(z, first, jnp.array([0.0, 1.0])),
            *_two_clusters(z, second, jnp.stack([sin, -cos])),
        ]
    )
    y = jnp.repeat(jnp.array([-1.0, 1.0]), n // 2)[:, None]
    features = jnp.stack([first, second])
    return Dataset(x=x, y=y, weight=jnp.ones(n), mean=y, features=features)


def _two_clusters(
    z: Points, along: Float[Array, " 2"], across: Float[Array, " 2"]
) -> tuple[Points, Points]:
    forward, side = (1 + z[:, :1]) * along[None, :], z[:, 1:] * across[None, :]
    return forward + side, side - forward


def _clipped_normal(key: PRNGKeyArray, n: int, sigma: Real, clip: Real) -> Points:
    """Points of N(0, σ²I) inside the disc, by inverting the law of the radius."""
    uniform = jax.random.uniform(key, (n, 2), jnp.float64)
    sigma = jnp.asarray(sigma, jnp.float64)
    inside = -jnp.expm1(-((clip / sigma) ** 2) / 2)
    radius = sigma * jnp.sqrt(-2 * jnp.log1p(-uniform[:, 0] * inside))
    turn = 2 * jnp.pi * uniform[:, 1]
    return radius[:, None] * jnp.stack([jnp.cos(turn), jnp.sin(turn)], axis=1)
