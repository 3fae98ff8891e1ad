"""Eigenvalues of the covariance of a large random sample."""

import numpy as np
from jaxtyping import Float

from simbias.validation.values import positive


def marchenko_pastur(
    x: Float[np.ndarray, " x"], *, ratio: float
) -> tuple[Float[np.ndarray, " x"], Float[np.ndarray, " x"]]:
    """Density and distribution function of the law of Marchenko and Pastur.

    Limit for the eigenvalues of XᵀX/n, X n × d of independent entries of mean 0 and
    variance 1, n, d → ∞ at γ = d/n.  With a, b = (1 ∓ √γ)² the density is

        √((b − x)(x − a))/(2πγx)   on [a, b],

    and for γ > 1 a mass of 1 − 1/γ lies at 0.  With x = 1 + γ − 2√γ cos θ the
    distribution function is

        F = max(0, 1 − 1/γ) + ((1 + γ)θ + 2√γ sin θ − 2|1 − γ| φ)/(2πγ),
        tan φ = (1 + √γ)/|1 − √γ| · tan(θ/2).

    Args:
        x: where.
        ratio: γ = d/n, inputs over samples.

    Returns:
        Density, which leaves out the mass at 0, and F, which counts it from x = 0 on.

    Raises:
        ValueError: unless γ is positive.

    Reference: Marchenko & Pastur (1967), Math. USSR Sbornik 1, 457.
    """
    positive("ratio", ratio)
    root = ratio**0.5
    cosine = (1 + ratio - x) / (2 * root)
    is_inside = (abs(cosine) < 1) & (x > 0)
    safe = np.where(is_inside, x, 1)
    sine = np.sqrt(np.where(is_inside, 1 - cosine**2, 0))
    density = np.where(is_inside, sine / (np.pi * root * safe), 0)
    theta = np.arccos(np.clip(cosine, -1, 1))
    phi = np.arctan2((1 + root) * np.sin(theta / 2), abs(1 - root) * np.cos(theta / 2))
    grown = (1 + ratio) * theta + 2 * root * np.sin(theta) - 2 * abs(1 - ratio) * phi
    at_zero = max(0.0, 1 - 1 / ratio)
    below = np.where(x < 0, 0, at_zero + grown / (2 * np.pi * ratio))
    return density, below
