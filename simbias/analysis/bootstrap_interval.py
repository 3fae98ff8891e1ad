"""Interval for a statistic of the seeds."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.stats import bootstrap

from simbias.analysis._interval import Interval, check_level
from simbias.errors import BadInput


def bootstrap_interval(
    values: Float[np.ndarray, " s"],
    statistic: Callable[..., Any] = np.median,
    *,
    level: float = 0.95,
    resamples: int = 4999,
    root: int = 0,
) -> Interval:
    """Bootstrap over seeds: BCa, or percentiles where BCa is undefined.

    BCa corrects for bias and skewness; it is NaN when the resamples or the jackknife
    are degenerate (many equal values).  `method` of the result says which one it is:
    `BCa`, `percentile`, or `constant` if all values are equal, when the interval is
    that one value and says nothing about the law.

    Args:
        values: one per seed.
        statistic: `(values, axis) -> number`, e.g. `np.mean`.
        level: confidence.
        resamples: number of bootstrap samples.
        root: seed of the resampling.

    Raises:
        ValueError: for fewer than two values, or one that is not finite: a failed
            member is counted by the caller, not dropped here.

    Reference: Efron (1987), J. Am. Stat. Assoc. 82, 171.
    """
    check_level(level)
    if len(values) < 2 or not np.all(np.isfinite(values)):
        raise BadInput(
            "`values` must be at least two finite numbers, one per seed, got "
            f"{len(values)} with {np.sum(~np.isfinite(values))} not finite. "
            "Count failed members first and report them."
        )
    estimate = float(statistic(values, axis=0))
    if np.all(values == values[0]):
        return Interval(estimate, estimate, estimate, level, "constant")
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            # Degeneracy is what the fallback is for.
            warnings.simplefilter("ignore")
            interval = bootstrap(
                (values,),
                statistic,
                confidence_level=level,
                n_resamples=resamples,
                vectorized=True,
                method=method,
                rng=np.random.default_rng(root),
            ).confidence_interval
        if np.isfinite(interval.low) and np.isfinite(interval.high):
            break
    return Interval(estimate, float(interval.low), float(interval.high), level, method)
