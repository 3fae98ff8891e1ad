"""Interval of a statistic over seeds, by resampling them."""

import dataclasses
import warnings
from collections.abc import Callable

import numpy as np
import scipy.stats
from jaxtyping import Float


@dataclasses.dataclass(frozen=True)
class BootstrapInterval:
    """A statistic, its interval, and how the interval was made.

    `method` is `BCa`, `percentile` (BCa is undefined: no jackknife spread, or every
    resample on one side) or `none` (fewer than two members; the ends are NaN).
    """

    estimate: float
    low: float
    high: float
    method: str
    n_used: int
    n_missing: int


def bootstrap_interval(
    values: Float[np.ndarray, " s"],
    statistic: Callable[..., np.ndarray] = np.median,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    rng_seed: int = 0,
) -> BootstrapInterval:
    """Bias-corrected and accelerated interval, else the percentile one.

    Args:
        values: one number per seed; those that are NaN or infinite are left out and
            counted.
        statistic: called with `axis`, as `np.median` or `np.mean`.
        level: coverage aimed at.
        resamples: draws of seeds with replacement.
        rng_seed: of the draws.

    Raises:
        ValueError: if the level is not in (0, 1).

    Reference: Efron (1987), J. Am. Stat. Assoc. 82, 171.
    """
    if not 0 < level < 1:
        raise ValueError(
            f"`level` must lie in (0, 1), got {level}. Example: level=0.95."
        )
    used = values[np.isfinite(values)]
    counts = {"n_used": len(used), "n_missing": len(values) - len(used)}
    if len(used) == 0:
        return BootstrapInterval(np.nan, np.nan, np.nan, "none", **counts)
    estimate = float(statistic(used, axis=0))
    if len(used) == 1:
        return BootstrapInterval(estimate, np.nan, np.nan, "none", **counts)

    def interval(method, **kwargs):
        return scipy.stats.bootstrap(
            (used,), statistic, confidence_level=level, method=method, **kwargs
        )

    # Where BCa is undefined SciPy divides by zero and says so twice; its NaN suffices.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(rng_seed)
        result = interval("BCa", n_resamples=resamples, rng=rng)
    method = "BCa"
    if not np.all(np.isfinite(result.confidence_interval)):
        method = "percentile"
        result = interval(method, n_resamples=0, bootstrap_result=result)
    low, high = (float(end) for end in result.confidence_interval)
    return BootstrapInterval(estimate, low, high, method, **counts)
