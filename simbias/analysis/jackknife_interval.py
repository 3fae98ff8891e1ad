"""Interval for a smooth statistic of the seeds."""

from collections.abc import Callable

import numpy as np
import scipy
from jaxtyping import Float

from simbias.analysis.interval import few
from simbias.analysis.looks import level_of_look
from simbias.core import Estimate

_LEAST = 4


def jackknife_interval(
    statistic: Callable[[np.ndarray], float],
    values: Float[np.ndarray, "s ..."],
    *,
    level: float = 0.95,
) -> Estimate:
    """Statistic ± t·√((k − 1)/k Σ (Tᵢ − T̄)²), Tᵢ without seed i.

    For ratios, and for what pools many neurons of every seed.  Not for the median of
    one value per seed, which is not smooth: see `median_interval`.

    Args:
        statistic: of all seeds, or of all but one.
        values: the first axis is the seeds; an interval needs four.
        level: confidence.

    Raises:
        ValueError: for a level that is not between 0 and 1.

    Reference: Tukey (1958), Ann. Math. Stat. 29, 614.
    """
    level = level_of_look(level)
    seeds, value = len(values), float(statistic(values))
    if seeds < _LEAST:
        return few(value, level, seeds, _LEAST)
    without = [float(statistic(np.delete(values, i, axis=0))) for i in range(seeds)]
    error = np.std(without) * (seeds - 1) ** 0.5
    reach = float(scipy.stats.t.ppf((1 + level) / 2, seeds - 1) * error)
    method = "jackknife over seeds" if reach else "equal without any of the seeds"
    return Estimate(value, value - reach, value + reach, method, level)
