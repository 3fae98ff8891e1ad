"""The largest sample that the median network still interpolates."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis._threshold import (
    Threshold,
    curve,
    medians,
    sign_interval,
    split_failed,
)
from simbias.analysis.looks import level_of_look


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
    level = level_of_look(level)
    sizes, samples = curve(values, dim)
    is_failed = split_failed(samples, dim, sizes)
    # Index 0 stands for no size, and the size after the last is unknown.
    steps = np.concatenate([[0.0], sizes, [np.inf]])

    def largest(samples: Float[np.ndarray, "r n s"]) -> Float[np.ndarray, " r"]:
        is_below = medians(samples) < value
        return np.max(is_below * np.arange(1.0, len(sizes) + 1), axis=1)

    def step(filling: float) -> int:
        return int(largest(np.where(is_failed, filling, samples)[None])[0])

    def counted_as(filling: float) -> float:
        found = step(filling)
        return float(steps[found]) if 0 < found < len(sizes) else np.nan

    found = counted_as(np.nan)
    if np.isnan(found):
        at = step(np.nan)
        low, high = steps[at], steps[at + 1]
    else:
        below = np.sum(~is_failed & (samples < value), axis=1)
        low, high = sign_interval(sizes, below, np.sum(~is_failed, axis=1), level)
    return Threshold(
        found,
        float(low),
        float(high),
        f"largest size with a median below {value:.4g}, sign tests",
        level,
        bool(np.isfinite(found)),
        int(is_failed.sum()),
        counted_as(-np.inf),
        counted_as(np.inf),
    )
