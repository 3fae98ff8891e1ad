"""Errors of least squares fitted to each sign of the teacher: the plateau's law."""

import numpy as np
from jaxtyping import Float

Law = tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]


def two_group_law(n: Float[np.ndarray, " c"], d: int, noise_variance: float) -> Law:
    """Expected train and test error of h(x) = (b₊·x)₊ − (−b₋·x)₊.

    train σ²(1 − 2d/n),   test σ²(1 + 2d/(n − 2d − 2))

    b± is least squares on the samples with ±β*·x > 0, each with n/2 samples and d
    parameters.  For x ~ N(0, I); NaN where n ≤ 2d + 2.

    Args:
        n: sample sizes.
        d: input dimension.
        noise_variance: σ².

    Returns:
        Mean squared errors without ½: (train, test).

    Reference: two applications of the law of `ols_law` with n/2 samples; the two-neuron
    limit is that of Boursier & Flammarion (2024), arXiv:2410.02348.
    """
    return _law(np.asarray(n, float), 2 * d, noise_variance)


def ols_law(n: Float[np.ndarray, " c"], d: int, noise_variance: float) -> Law:
    """Expected train and test error of ordinary least squares, Gaussian inputs.

    train σ²(1 − d/n),   test σ²(1 + d/(n − d − 1));   NaN where n ≤ d + 1.

    Reference: mean of the inverse Wishart law.
    """
    return _law(np.asarray(n, float), d, noise_variance, 1)


def _law(
    n: Float[np.ndarray, " c"], p: int, noise_variance: float, lost: int = 2
) -> Law:
    free = n - p - lost
    is_defined = free > 0
    nan = np.full_like(n, np.nan)
    train = np.where(is_defined, noise_variance * (1 - p / n), nan)
    excess = np.divide(p, free, out=nan.copy(), where=is_defined)
    return train, noise_variance * (1 + excess)
