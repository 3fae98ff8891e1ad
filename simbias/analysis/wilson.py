"""Interval for a share."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simbias.analysis.confidence_sequences import share_sequence
from simbias.analysis.interval import check_level, present, unknown
from simbias.analysis.looks import is_repeated
from simbias.core import Estimate
from simbias.errors import BadInput


def wilson(successes: int, trials: int, *, level: float = 0.95) -> Estimate:
    """`wilson_score`; inside `looks.look` a `share_sequence`."""
    how = share_sequence if is_repeated() else wilson_score
    return how(successes, trials, level=level)


def share_interval(is_true: ArrayLike) -> Estimate:
    """Share of the values that are true, with the interval of `wilson`.

    Args:
        is_true: independent values: true, false, 1, 0, or NaN for one that is missing.

    Raises:
        ValueError: for other values.
    """
    seen = present(is_true)
    if not np.all((seen == 0) | (seen == 1)):
        raise BadInput("`is_true` must be true, false, 1, 0 or NaN. Example: risk < 1.")
    if not seen.size:
        return unknown(np.nan, 0.95, "no member has a result")
    return wilson(int(seen.sum()), seen.size)


def wilson_score(successes: int, trials: int, *, level: float = 0.95) -> Estimate:
    """Wilson's score interval for a probability, from k successes in n trials.

    Every p with |k − np| − ½ ≤ z √(np(1 − p)), z the two-sided normal quantile.  The ½
    corrects for continuity: without it 6 to 20 trials cover 0.83 near p = 0 and 1.  It
    stays in [0, 1] and is not empty at k = 0 or k = n.

    Args:
        successes: k.
        trials: n, failed members not included: report those beside it.
        level: confidence.

    Raises:
        ValueError: unless 0 ≤ k ≤ n, n ≥ 1 and 0 < level < 1.

    Reference: Wilson (1927), J. Am. Stat. Assoc. 22, 209; Newcombe (1998), Stat. Med.
    17, 857, method 4.
    """
    check_level(level)
    is_count = successes == int(successes) and trials == int(trials)
    if not is_count or trials < 1 or not 0 <= successes <= trials:
        raise BadInput(
            "`successes` must be a count in 0 … `trials`, and `trials` positive, got "
            f"{successes} of {trials}."
        )
    test = scipy.stats.binomtest(int(successes), int(trials))
    interval = test.proportion_ci(level, method="wilsoncc")
    return Estimate(
        successes / trials,
        float(interval.low),
        float(interval.high),
        "Wilson score, corrected for continuity",
        level,
    )
