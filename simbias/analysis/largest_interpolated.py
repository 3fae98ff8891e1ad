"""The largest sample that the median network still interpolates."""

import numpy as np
import xarray as xr

from simbias.analysis._threshold import Ends, Sizes, Threshold, by_medians


def largest_interpolated(
    values: xr.DataArray,
    value: float,
    *,
    dim: str = "n",
    level: float = 0.95,
) -> Threshold:
    """Largest n of the grid at which the median over seeds is below `value`.

    With the train MSE and value = 0.01 σ²: the median network interpolates.  The
    value is a size of the grid; the interval is that of `median_crossing`, since the
    curve crosses between two sizes.

    Bracketed: below `value` at some size, and not at the largest.

    Args:
        values: over (`dim`, seed), e.g. the train MSE; NaN for members without one.
            A failed member that "succeeds" counts as −∞, one that fails as +∞.
        value: the level to be below, in the units of `values`.
        dim: the axis n lies on; its coordinate must be positive.
        level: confidence of the interval.

    Raises:
        ValueError: for another axis, fewer than two sizes, or a size without any
            result.
    """

    def read(sizes: Sizes, middle: Sizes) -> tuple[float, Ends | None]:
        # Index 0 stands for no size, and the size after the last is unknown.
        steps = [0.0, *sizes.tolist(), np.inf]
        at = int(np.max((middle < value) * np.arange(1, len(sizes) + 1)))
        if 0 < at < len(sizes):
            return steps[at], None
        return np.nan, (steps[at], steps[at + 1])

    text = "largest size with a median below"
    return by_medians(values, value, dim, level, text, read)
