"""Interval of a probability from successes and trials."""

import scipy.stats


def wilson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval: all p with |k − tp| ≤ z √(t p (1 − p)).

    Unlike k/t ± z √(…), it stays inside [0, 1] and has a width at k = 0 and k = t.

    Args:
        successes: k, how many members did it.
        trials: t, how many were asked; leave failed members out of both.
        level: coverage aimed at.

    Returns:
        Lower and upper end; (0, 1) without any trial.

    Raises:
        ValueError: unless 0 ≤ successes ≤ trials and 0 < level < 1.

    Reference: Wilson (1927), J. Am. Stat. Assoc. 22, 209.
    """
    if not 0 <= successes <= trials:
        raise ValueError(
            "`successes` must lie between 0 and `trials`, got "
            f"successes={successes}, trials={trials}. Example: wilson(7, 20)."
        )
    if not 0 < level < 1:
        raise ValueError(
            f"`level` must lie in (0, 1), got {level}. Example: level=0.95."
        )
    if trials == 0:
        return 0.0, 1.0
    test = scipy.stats.binomtest(successes, trials)
    interval = test.proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)
