"""Interval for the median of the seeds."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simbias.analysis.confidence_sequences import median_sequence
from simbias.analysis.interval import LEAST_SEEDS, check_level, few, present, unknown
from simbias.analysis.looks import is_repeated
from simbias.core import Estimate


def median_interval(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Median, between two of the values, exact for every law.

    P(X₍ⱼ₎ ≤ median ≤ X₍ₖ₊₁₋ⱼ₎) ≥ 1 − 2·P(Binomial(k, ½) < j), with the largest j for
    which this is at least `level`: the extremes of six to eight values, the sixth from
    either end of twenty.  Inside `looks.look` it is `median_sequence`.  Members without
    a value are left out: count them beside it.

    Args:
        values: one per seed, NaN for none; an interval needs six.
        level: confidence.

    Raises:
        ValueError: for a level that is not between 0 and 1.

    Reference: Conover (1999), Practical nonparametric statistics, §3.2.
    """
    check_level(level)
    if is_repeated():
        return median_sequence(values, level=level)
    seen = present(values)
    median = float(np.median(seen)) if seen.size else np.nan
    if seen.size < LEAST_SEEDS:
        return few(median, level, seen.size)
    low, high = scipy.stats.quantile_test(seen, p=0.5).confidence_interval(level)
    if np.isnan(low) or np.isnan(high):
        return unknown(median, level, f"{seen.size} values are too few")
    return Estimate(median, float(low), float(high), "order statistics, exact", level)
