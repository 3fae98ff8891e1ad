"""The sample size at which a median over seeds crosses a level."""

import numpy as np
import xarray as xr

from simbias.analysis._threshold import Sizes, Threshold, by_medians, first_crossings


def median_crossing(
    values: xr.DataArray,
    value: float,
    *,
    dim: str = "n",
    level: float = 0.95,
) -> Threshold:
    """First n, from below, at which the median over seeds rises to `value`.

    Between two sizes the median is taken as linear in ln n.  With the train MSE and
    value = σ²/2 this is a definition of the optimisation threshold that sees how far a
    network is from interpolating, not only whether.  Its interval is that of sign tests
    at the sizes of the grid, exact if the shares below `value` fall with n, and ends at
    two of them.

    Bracketed: below `value` at the smallest size, and above it somewhere.

    Args:
        values: over (`dim`, seed), e.g. the train MSE; NaN for members without one.
            A failed member that "succeeds" counts as −∞, one that fails as +∞.
        value: the level that is crossed, in the units of `values`.
        dim: the axis n lies on; its coordinate must be positive.
        level: confidence of the interval.

    Raises:
        ValueError: for another axis, fewer than two sizes, or a size without any
            result.
    """

    def read(sizes: Sizes, middle: Sizes) -> tuple[float, None]:
        found = float(first_crossings(sizes, middle[None], value)[0])
        return found if 0 < found < np.inf else np.nan, None

    return by_medians(values, value, dim, level, "median rises to", read)
