"""Risk of least squares of least norm on isotropic Gaussian inputs."""

import numpy as np

from simbias.validation.values import not_negative, positive_integer


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
    for name, size in (("n", n), ("d", d)):
        positive_integer(name, size)
    for name, value in (("sigma", sigma), ("norm", norm)):
        not_negative(name, value)
    bias = norm**2 * max(0.0, 1 - n / d)
    gap = abs(d - n) - 1
    if sigma == 0:
        return bias, 0.0
    return bias, sigma**2 * min(n, d) / gap if gap > 0 else np.inf
