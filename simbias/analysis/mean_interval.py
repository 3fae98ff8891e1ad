"""Interval for the mean of the seeds."""

import numpy as np
from jaxtyping import Float
from scipy import stats

from simbias.analysis._interval import Interval, check_level


def mean_interval(values: Float[np.ndarray, " s"], *, level: float = 0.95) -> Interval:
    """Mean ± t · s/√(number of seeds), t the quantile of Student's law.

    Of paired differences it is the paired t interval.  Members without a value are left
    out: count them beside it.  NaN for fewer than two values.

    Args:
        values: one per seed, NaN for none.
        level: confidence.

    Reference: Student (1908), Biometrika 6, 1.
    """
    check_level(level)
    seen = values[np.isfinite(values)]
    if seen.size < 2:
        return Interval(np.nan, np.nan, np.nan, level, "fewer than two values")
    mean, error = float(seen.mean()), float(seen.std(ddof=1)) / seen.size**0.5
    reach = float(stats.t.ppf((1 + level) / 2, seen.size - 1)) * error
    return Interval(mean, mean - reach, mean + reach, level, "Student's t")
