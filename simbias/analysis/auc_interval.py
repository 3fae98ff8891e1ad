"""Interval for the area under a ROC curve on a test sample."""

import numpy as np
import scipy

from simbias.analysis.interval import unknown
from simbias.analysis.looks import level_of_look
from simbias.core import Estimate
from simbias.errors import BadInput

_TINY = 1e-9


def auc_interval(
    auc: float, positives: int, negatives: int, *, level: float = 0.95
) -> Estimate:
    """Every A with |AUC − A| ≤ z·√V(A): a score interval, not empty at 0 and 1.

    V(A) = A(1 − A)(1 + (N − 1)((1 − A)/(2 − A) + A/(1 + A)))/(n₊n₋),  N = (n₊ + n₋)/2,
    is Hanley and McNeil's variance, with a mean of both sizes.

    Args:
        auc: as seen, NaN for none.
        positives: n₊, samples of the one class.
        negatives: n₋, of the other.
        level: confidence.

    Raises:
        ValueError: for an area or a level that is none, or a class without samples.

    Reference: Newcombe (2006), Stat. Med. 25, 559, method 5.
    """
    level = level_of_look(level)
    is_counted = positives >= 1 and negatives >= 1
    if not is_counted or auc < 0 or auc > 1:
        raise BadInput(
            "`auc` must lie in [0, 1], and `positives` and `negatives` be positive, "
            f"got {auc}, {positives} and {negatives}."
        )
    if not np.isfinite(auc):
        return unknown(np.nan, level, "a value is missing")
    z = float(scipy.stats.norm.ppf((1 + level) / 2))

    def excess(a: float) -> float:
        spread = (1 - a) / (2 - a) + a / (1 + a)
        more = 1 + ((positives + negatives) / 2 - 1) * spread
        return (auc - a) ** 2 - z**2 * a * (1 - a) * more / (positives * negatives)

    # At 0 and 1 themselves the equation has that root too.
    inside = min(max(auc, _TINY), 1 - _TINY)
    low = float(scipy.optimize.brentq(excess, 0.0, inside)) if auc > 0 else 0.0  # pyright: ignore[reportArgumentType]
    high = float(scipy.optimize.brentq(excess, inside, 1.0)) if auc < 1 else 1.0  # pyright: ignore[reportArgumentType]
    return Estimate(float(auc), low, high, "score interval of an AUC", level)
