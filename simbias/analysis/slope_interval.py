"""Interval for the slope of a line through points."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simbias.analysis.interval import unknown
from simbias.analysis.looks import level_of_look
from simbias.core import Estimate
from simbias.errors import BadInput


def slope_interval(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Slope of least squares, by Student's law of k − 2 degrees of freedom.

    Its error is what the points leave of a line, so that two of them tell none.  Of
    logarithms it is the exponent of a power law.

    Args:
        x: where the points lie, two different values at least.
        y: their values; NaN leaves the slope unknown.
        level: confidence.

    Raises:
        ValueError: for another shape, or `x` that is not finite or all the same.
    """
    level = level_of_look(level)
    x, y = (np.asarray(v, dtype=np.float64) for v in (x, y))
    is_line = x.ndim == 1 and x.shape == y.shape
    if not is_line or not np.all(np.isfinite(x)) or (x.size and np.ptp(x) == 0):
        raise BadInput(
            "`x` and `y` must be as many numbers, and `x` hold two different ones, got "
            f"the shapes {x.shape} and {y.shape}, and `x` = {x!r:.80}."
        )
    if len(x) < 2 or not np.all(np.isfinite(y)):
        return unknown(np.nan, level, "a slope needs two points and all their values")
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    if len(x) < 3:
        return unknown(slope, level, "an interval for a slope needs three points")
    fit: Any = scipy.stats.linregress(x, y)
    error = float(fit.stderr)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, len(x) - 2)) * error
    return Estimate(
        slope, slope - reach, slope + reach, "least squares, Student's t", level
    )
