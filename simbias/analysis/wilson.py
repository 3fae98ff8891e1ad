"""Interval for a rate."""

import scipy

from simbias.analysis.confidence_sequences import share_sequence
from simbias.analysis.interval import check_level
from simbias.analysis.looks import is_repeated
from simbias.core import Estimate
from simbias.errors import BadInput


def wilson(successes: int, trials: int, *, level: float = 0.95) -> Estimate:
    """`wilson_score`; inside `looks.look` a `share_sequence`."""
    how = share_sequence if is_repeated() else wilson_score
    return how(successes, trials, level=level)


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
