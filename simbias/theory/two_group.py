"""Least squares fitted to each sign of a direction: the plateau and its law.

Where neurons have gathered around ±β*, those with aⱼ > 0 see the samples with
β*·x > 0, the others the rest, and each group is a linear model of its half.  These are
the groups of the theorem.  A network's own are the samples with b₊·x > 0 and b₋·x < 0:
others only between the hyperplanes of β* and of b±, which meet as n grows.
"""

import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.theory.ols import least_squares

Law = tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]


def two_group_fit(
    data: Dataset, direction: Float[Array, " d"]
) -> Float[Array, "2 d k"]:
    """Least squares on S₊ = {i: u·xᵢ > 0} and on S₋ = {i: u·xᵢ < 0}.

    h(x) = b₊·x where u·x > 0, b₋·x where u·x < 0

    The groups are disjoint, so fitting them jointly is fitting each.  A group of fewer
    than d samples gets the solution of least norm.

    Args:
        data: the sample.
        direction: u, the direction that splits it; β* for the law below.

    Returns:
        b₊ and b₋, in this order.

    Reference: theorem 2 of Boursier & Flammarion (2024), arXiv:2410.02348.
    """
    side = data.x @ direction
    groups = [jnp.where(s, data.weight, 0) for s in (side > 0, side < 0)]
    return jnp.stack([least_squares(data.x, data.y, group) for group in groups])


def two_group_law(n: Float[np.ndarray, " c"], d: int, noise_variance: float) -> Law:
    """Expected train and test error of `two_group_fit`, split by the teacher β*.

    train σ²(1 − 2d/n),   test σ²(1 + 2d/(n − 2d − 2))

    This is `ols_law` for n/2 samples, the mean size of a group.  The train law is exact
    for every law of x; the test law is for x ~ N(0, I), and below the truth because
    group sizes vary: by 0.8 % at n = 50, d = 5, and by 0.1 % at n = 100.

    Args:
        n: sample sizes.
        d: input dimension.
        noise_variance: σ².

    Returns:
        Mean squared errors without ½: (train, test); NaN where n ≤ 2d + 2.

    Reference: two-neuron limit of Boursier & Flammarion (2024), arXiv:2410.02348; the
    law is that of `ols_law`, since x xᵀ does not tell x from −x.
    """
    return ols_law(np.asarray(n, float) / 2, d, noise_variance)


def two_group_threshold(d: int) -> float:
    """The sample size n at which two regressions interpolate half of all samples.

    Each interpolates up to d samples: P(n) = Pr(n₊ ≤ d and n − n₊ ≤ d) for n₊ of n
    samples on one side, Binomial(n, ½).  P = ½, linear in ln n between whole n.

    What two groups of neurons interpolate: a network that interpolates more often has
    neurons on more than two directions.

    Args:
        d: input dimension.
    """
    n = np.arange(1, 2 * d + 2)
    share = lambda k: scipy.stats.binom.cdf(k, n, 0.5)
    both = share(np.minimum(d, n)) - share(np.maximum(n - d, 0) - 1)
    at = int(np.argmax(both < 0.5))
    part = (both[at - 1] - 0.5) / (both[at - 1] - both[at])
    return float(np.exp(np.log(n[at - 1]) + part * np.log(n[at] / n[at - 1])))


def ols_law(n: Float[np.ndarray, " c"], d: int, noise_variance: float) -> Law:
    """Expected train and test error of ordinary least squares on n samples.

    train σ²(1 − d/n),   test σ²(1 + d/(n − d − 1))

    Args:
        n: sample sizes.
        d: input dimension.
        noise_variance: σ².

    Returns:
        Mean squared errors without ½: (train, test); NaN where n ≤ d + 1.

    Reference: n − d degrees of freedom; for x ~ N(0, I), E tr (XᵀX)⁻¹ = d/(n − d − 1),
    the mean of the inverse Wishart law.
    """
    n = np.asarray(n, float)
    free = n - d - 1
    is_defined = free > 0
    share = np.divide(d, n, out=np.full_like(n, np.nan), where=is_defined)
    excess = np.divide(d, free, out=np.full_like(n, np.nan), where=is_defined)
    return noise_variance * (1 - share), noise_variance * (1 + excess)
