"""Intervals that hold the truth at every number of seeds at once.

The probability that the truth *ever* leaves the interval, however often one looks, is
at most 1 − level.  Each comes from a process that is a nonnegative martingale with mean
one if a value is the truth: by Ville's inequality it ever reaches 1/α with probability
α at most, and the interval is of the values whose process stays below 1/α.
"""

from typing import Any

import numpy as np
import scipy
from jaxtyping import Float
from numpy.typing import ArrayLike

from simbias.analysis.interval import (
    LEAST_SEEDS,
    check_level,
    few,
    mean_without_interval,
    present,
    unknown,
)
from simbias.core import Estimate
from simbias.errors import BadInput

# Variance of the effect size over which the t-sequence mixes, narrowest at 30 seeds.
_EFFECT = 0.25
# Candidates for a mean that is bounded.
_GRID = 2001


def share_sequence(successes: int, trials: int, *, level: float = 0.95) -> Estimate:
    """Share of successes, by a beta-binomial mixture: valid for every share.

    Every p for which B(k + ½, n − k + ½) / B(½, ½) < pᵏ (1 − p)ⁿ⁻ᵏ / α.

    Args:
        successes: k.
        trials: n, failed members not included.
        level: confidence, 1 − α.

    Raises:
        ValueError: unless 0 ≤ k ≤ n, n ≥ 1 and 0 < level < 1.

    Reference: Robbins (1970), Ann. Math. Stat. 41, 1397; Howard et al. (2021), §3.
    """
    check_level(level)
    k, n = int(successes), int(trials)
    if (k, n) != (successes, trials) or n < 1 or not 0 <= k <= n:
        raise BadInput(
            "`successes` must be a count in 0 … `trials`, and `trials` positive, got "
            f"{successes} of {trials}."
        )
    share = k / n

    def above(p: float) -> float:
        return _log_of_share(k, n, p) + np.log(1 - level)

    low = 0.0 if k == 0 else scipy.optimize.brentq(above, 1e-300, share)
    high = 1.0 if k == n else scipy.optimize.brentq(above, share, 1 - 1e-16)
    method = "confidence sequence, beta-binomial mixture"
    return Estimate(share, float(low), float(high), method, level)


def _log_of_share(k: Any, n: int, p: float) -> Any:
    """Logarithm of the process of a share p, at k successes of n."""
    mixture = scipy.special.betaln(k + 0.5, n - k + 0.5) - scipy.special.betaln(
        0.5, 0.5
    )
    return mixture - scipy.special.xlogy(k, p) - scipy.special.xlog1py(n - k, -p)


def median_sequence(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Median, between two of the values: valid for every law.

    X₍ⱼ₎ … X₍ₙ₊₁₋ⱼ₎ with the smallest j for which ½ is in `share_sequence` of j of n.

    Args:
        values: one per seed, NaN for none.
        level: confidence.

    Raises:
        ValueError: for a level that is not between 0 and 1.

    Reference: Howard & Ramdas (2022), Bernoulli 28, 1704.
    """
    check_level(level)
    seen = np.sort(present(values))
    n, median = seen.size, float(np.median(seen)) if seen.size else np.nan
    if n < LEAST_SEEDS:
        return few(median, level, n)
    counts = np.arange(n // 2 + 1)
    is_in = _log_of_share(counts, n, 0.5) < -np.log(1 - level)
    if is_in[0]:
        return unknown(median, level, f"{n} values are too few")
    j = int(counts[is_in][0])
    method = "confidence sequence, order statistics"
    return Estimate(median, float(seen[j - 1]), float(seen[n - j]), method, level)


def mean_sequence(
    values: ArrayLike,
    *,
    level: float = 0.95,
    within: tuple[float | int, float | int] | None = None,
) -> Estimate:
    """Mean of the seeds, in the order of the seeds.

    Without bounds: every μ for which

    (1 + ng)^(−½) [(1 + t²/(n − 1)) / (1 + t²/((n − 1)(1 + ng)))]^(n/2) < 1/α

    with t = √n (mean − μ)/s and g = ¼, and, as a hull, every μ for which this is so of
    Hall's transform of t, which removes the skewness that the values show.  It is valid
    at every n for normal values, and in the limit of many seeds for others of finite
    variance.  With bounds (`within`): by betting, valid for every law in them.  Values
    that are two different ones are shares.

    Args:
        values: one per seed, NaN for none; an interval needs six.
        level: confidence.
        within: bounds of the values that are known beforehand, such as (0, 1).

    Raises:
        ValueError: for a level that is not between 0 and 1, or a value out of bounds.

    Reference: Lai (1976), Ann. Stat. 4, 265; Wang & Ramdas (2025), Sequential Analysis
    44, 56; Hall (1992), J. R. Stat. Soc. B 54, 221; Waudby-Smith & Ramdas (2024), J. R.
    Stat. Soc. B 86, 1.
    """
    check_level(level)
    seen = present(values)
    if (nothing := mean_without_interval(seen, level)) is not None:
        return nothing
    mean = float(seen.mean())
    if within is not None:
        return _betting(seen, level, within)
    if np.ptp(seen) == 0:
        return unknown(mean, level, f"all {seen.size} values are equal")
    if len(np.unique(seen)) == 2:
        low, high = float(seen.min()), float(seen.max())
        share = share_sequence(int((seen == high).sum()), seen.size, level=level)
        below, above = (low + (high - low) * end for end in (share.low, share.high))
        return Estimate(mean, below, above, f"{share.method}, of two values", level)
    n, spread = seen.size, 1 + seen.size * _EFFECT
    most = (spread**0.5 / (1 - level)) ** (2 / n)
    if most >= spread:
        return unknown(mean, level, f"{n} values are too few")
    reach = ((most - 1) / (1 - most / spread) * (n - 1) / n) ** 0.5
    ends = np.array([-reach, reach])
    scale, skew = seen.std(ddof=1), float(scipy.stats.skew(seen, bias=False))
    if skew:  # the inverse of x + γ x²/3 + γ² x³/27 + γ/6n
        inverse = 3 / skew * (np.cbrt(1 + skew * (ends - skew / (6 * n))) - 1)
        ends = np.concatenate([ends, inverse])
    low, high = mean - scale * ends.max(), mean - scale * ends.min()
    method = "confidence sequence, t with a normal mixture and Hall's transform"
    return Estimate(mean, float(low), float(high), method, level)


def _betting(
    seen: Float[np.ndarray, " n"], level: float, within: tuple[float | int, float | int]
) -> Estimate:
    """The hedged capital process, with bets from the values before."""
    low, high = within
    if not (low < high and np.all((low <= seen) & (seen <= high))):
        raise BadInput(f"`within` must hold all values, got {within}. Example: (0, 1).")
    x = (seen - low) / (high - low)
    count = np.arange(1, x.size + 1)
    mean = (0.5 + np.cumsum(x)) / (count + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    bet = np.sqrt(2 * np.log(2 / (1 - level)) / (before * count * np.log(count + 1)))
    m = np.linspace(0, 1, _GRID)[1:-1, None]
    up = np.log1p(np.minimum(bet, 0.5 / m) * (x - m)).cumsum(axis=1)
    down = np.log1p(-np.minimum(bet, 0.5 / (1 - m)) * (x - m)).cumsum(axis=1)
    # Once a candidate is out it stays out.
    capital = np.maximum(up, down).max(axis=1) - np.log(2)
    is_in = m[capital < -np.log(1 - level), 0]
    step = 1 / (_GRID - 1)
    ends = (
        (float(is_in.min()) - step, float(is_in.max()) + step) if is_in.size else (0, 1)
    )
    low_end, high_end = (low + (high - low) * np.clip(end, 0, 1) for end in ends)
    method = "confidence sequence, betting"
    return Estimate(float(seen.mean()), float(low_end), float(high_end), method, level)
