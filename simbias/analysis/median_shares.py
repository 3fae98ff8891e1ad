"""Where the median of draws from a known law lies."""

import scipy

from simbias.analysis.interval import check_level
from simbias.validation.values import positive_integer


def median_shares(draws: int, *, level: float = 0.95) -> tuple[float, float]:
    """Shares of any law between which the median of so many draws lies.

    The share of the law below the k-th smallest of `draws` is Beta(k, draws + 1 − k).
    The median of an even number of draws lies between the two in the middle: the range
    is from the lower end of the one to the upper end of the other.

    Args:
        draws: number of independent draws.
        level: probability of the range, at least.

    Returns:
        Two shares; their quantiles are the range of the median.

    Raises:
        ValueError: for a number or a level out of range.
    """
    positive_integer("draws", draws)
    check_level(level)
    low, high, tail = (draws + 1) // 2, draws // 2 + 1, (1 - level) / 2
    return (
        float(scipy.stats.beta.ppf(tail, low, draws + 1 - low)),
        float(scipy.stats.beta.ppf(1 - tail, high, draws + 1 - high)),
    )
