"""Interval for the mean of the seeds."""

import numpy as np
import scipy
from jaxtyping import Float
from numpy.typing import ArrayLike

from simbias.analysis.confidence_sequences import mean_sequence
from simbias.analysis.interval import (
    check_level,
    mean_without_interval,
    present,
    unknown,
)
from simbias.analysis.looks import is_repeated
from simbias.core import Estimate

_RESAMPLES = 1999


def mean_interval(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean, with the hull of Student's interval and of the studentised bootstrap's.

    mean − q·s/√k for the quantiles q of Student's law, and for those of
    (mean* − mean)/(s*/√k) over resampled values, which know of skewness.  Of paired
    differences it is an interval for the mean difference.  Members without a value are
    left out: count them beside it.  Values that are all equal say nothing of those not
    seen, nor does a mean that is infinite: their interval is the whole line.  Of laws
    with long tails it covers less than `level`: of the lognormal one with σ = 1, at
    0.95, six values cover 0.90, twenty 0.91 (1500 trials each).  Inside `looks.look` it
    is `mean_sequence`.

    Args:
        values: one per seed, NaN for none; an interval needs six.
        level: confidence.

    Raises:
        ValueError: for a level that is not between 0 and 1.

    Reference: Student (1908), Biometrika 6, 1; Hall (1988), Ann. Stat. 16, 927.
    """
    check_level(level)
    if is_repeated():
        return mean_sequence(values, level=level)
    seen = present(values)
    if (nothing := mean_without_interval(seen, level)) is not None:
        return nothing
    mean = float(seen.mean())
    if np.ptp(seen) == 0:
        return unknown(mean, level, f"all {seen.size} values are equal")
    error = float(seen.std(ddof=1)) / seen.size**0.5
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    q = np.stack([scipy.stats.t.ppf(tails, seen.size - 1), _studentised(seen, tails)])
    reach = q * error
    return Estimate(
        mean,
        mean - float(reach[:, 1].max()),
        mean - float(reach[:, 0].min()),
        "Student's t and studentised bootstrap",
        level,
    )


def _studentised(
    seen: Float[np.ndarray, " s"], tails: Float[np.ndarray, " 2"]
) -> Float[np.ndarray, " 2"]:
    rng = np.random.default_rng(0)
    drawn = seen[rng.integers(seen.size, size=(_RESAMPLES, seen.size))]
    off = drawn.mean(axis=1) - seen.mean()
    error = drawn.std(axis=1, ddof=1) / seen.size**0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(off / error, nan=0.0, posinf=np.inf, neginf=-np.inf)
    # Not interpolated: resamples of equal values are infinitely far.
    return np.quantile(ratio, tails, method="inverted_cdf")
