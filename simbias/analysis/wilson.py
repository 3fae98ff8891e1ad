"""Interval for a rate."""

from scipy.stats import binomtest

from simbias.analysis._interval import Interval, check_level
from simbias.errors import BadInput


def wilson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval for a probability, from k successes in n trials.

    (k + z²/2 ± z √(k(n − k)/n + z²/4)) / (n + z²), z the two-sided normal quantile.
    It stays in [0, 1] and is not empty at k = 0 or k = n.

    Args:
        successes: k.
        trials: n, failed members not included: report those beside it.
        level: confidence.

    Raises:
        ValueError: unless 0 ≤ k ≤ n and n ≥ 1.

    Reference: Wilson (1927), J. Am. Stat. Assoc. 22, 209.
    """
    check_level(level)
    if trials < 1 or not 0 <= successes <= trials:
        raise BadInput(
            "`successes` must lie in 0 … `trials`, and `trials` be positive, got "
            f"{successes} of {trials}."
        )
    interval = binomtest(successes, trials).proportion_ci(level, method="wilson")
    return Interval(
        successes / trials,
        float(interval.low),
        float(interval.high),
        level,
        "Wilson score",
    )
