"""The largest sample that the median network still interpolates."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis._threshold import (
    Threshold,
    curve,
    medians,
    over_seeds,
    split_failed,
)


def largest_interpolated(
    values: xr.DataArray,
    value: float,
    *,
    dim: str = "n",
    level: float = 0.95,
    resamples: int = 2000,
    root: int = 0,
) -> Threshold:
    """Largest n of the grid at which the median over seeds is below `value`.

    With the train MSE and value = 0.01 σ²: the median network interpolates.  The
    estimate is a size of the grid; the interval (percentile bootstrap over seeds) ends
    at the size AFTER the upper quantile, since the curve crosses in between.

    Bracketed: below `value` at some size, and not at the largest.

    Args:
        values: over (`dim`, seed), e.g. the train MSE; NaN for members without one.
            A failed member that "succeeds" counts as −∞, one that fails as +∞.
        value: the level to be below, in the units of `values`.
        dim: the axis n lies on; its coordinate must be positive.
        level: confidence of the interval.
        resamples: number of bootstrap samples.
        root: seed of the resampling.

    Raises:
        ValueError: for another axis, fewer than two sizes, or a size without any
            result.
    """
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

    estimate = counted_as(np.nan)
    if np.isnan(estimate):
        low = high = step(np.nan)
    else:
        low, high = over_seeds(
            largest,
            np.where(is_failed, np.nan, samples),
            level=level,
            resamples=resamples,
            root=root,
        )
    return Threshold(
        estimate,
        float(steps[int(low)]),
        float(steps[int(high) + 1]),
        level,
        bool(np.isfinite(estimate)),
        int(is_failed.sum()),
        counted_as(-np.inf),
        counted_as(np.inf),
        f"largest size with a median below {value:.4g}, seeds resampled",
    )
