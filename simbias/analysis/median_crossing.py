"""The sample size at which a median over seeds crosses a level."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis._threshold import (
    Threshold,
    curve,
    first_crossings,
    medians,
    sign_interval,
    split_failed,
)
from simbias.analysis.looks import level_of_look


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
    level = level_of_look(level)
    sizes, samples = curve(values, dim)
    is_failed = split_failed(samples, dim, sizes)

    def first(samples: Float[np.ndarray, "r n s"]) -> Float[np.ndarray, " r"]:
        return first_crossings(sizes, medians(samples), value)

    def counted_as(filling: float) -> float:
        found = first(np.where(is_failed, filling, samples)[None])[0]
        return float(found) if 0 < found < np.inf else np.nan

    found = counted_as(np.nan)
    below = np.sum(~is_failed & (samples < value), axis=1)
    low, high = sign_interval(sizes, below, np.sum(~is_failed, axis=1), level)
    return Threshold(
        found,
        float(low),
        float(high),
        f"median rises to {value:.4g}, sign tests",
        level,
        bool(np.isfinite(found)),
        int(is_failed.sum()),
        counted_as(-np.inf),
        counted_as(np.inf),
    )
