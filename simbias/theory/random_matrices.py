"""Spectra of random matrices, and the risk of least squares on them."""

import numpy as np
from jaxtyping import Float

from simbias.validation.values import not_negative, positive, positive_integers


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


def least_eigenvalue(share: Float[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
    """Quantiles of n·λmin(XXᵀ), X n × n of independent N(0, 1), n → ∞.

    P(n·λmin > t) = e^{−t/2 − √t}, so that t = (√(1 − 2 ln(1 − share)) − 1)².  The
    median is 0.2967.  For finite n it is the law up to O(1/n).

    Args:
        share: of the law that is below, in [0, 1).

    Reference: Edelman (1988), SIAM J. Matrix Anal. Appl. 9, 543, theorem 3.1.
    """
    return (np.sqrt(1 - 2 * np.log1p(-share)) - 1) ** 2


def ridgeless_risk(
    n: int, d: int, *, sigma: float, norm: float = 1.0
) -> tuple[float, float]:
    """E‖ŵ − w*‖², ŵ = X⁺y, y = Xw* + σ η, entries of X and η independent N(0, 1).

    d < n:   bias 0,                  variance σ²d/(n − d − 1)
    d > n:   bias ‖w*‖²(1 − n/d),     variance σ²n/(d − n − 1)

    Exact for every n and d, by the mean of an inverse Wishart matrix; no ½.  It is the
    excess risk E(ŵ·x − w*·x)² on a new x ~ N(0, I).  With |d − n| ≤ 1 the mean is
    infinite; with |d − n| ≤ 3 the variance of what one sample gives is.

    Args:
        n: samples.
        d: inputs.
        sigma: standard deviation of the noise.
        norm: ‖w*‖.

    Returns:
        Bias and variance, which add up to the risk.

    Raises:
        ValueError: for a size or number out of range.

    Reference: Hastie, Montanari, Rosset & Tibshirani (2022), arXiv:1903.08560, whose
    proposition 2 and theorem 1 are the limits; Breiman & Freedman (1983) for d < n.
    """
    positive_integers(n=n, d=d)
    for name, value in (("sigma", sigma), ("norm", norm)):
        not_negative(name, value)
    bias = norm**2 * max(0.0, 1 - n / d)
    gap = abs(d - n) - 1
    if sigma == 0:
        return bias, 0.0
    return bias, sigma**2 * min(n, d) / gap if gap > 0 else np.inf
