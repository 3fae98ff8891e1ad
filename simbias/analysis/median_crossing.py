"""The sample size at which a median over seeds crosses a level."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis._threshold import (
    Sizes,
    Threshold,
    curve,
    medians,
    over_seeds,
    split_failed,
)


def median_crossing(
    values: xr.DataArray,
    value: float,
    *,
    dim: str = "n",
    level: float = 0.95,
    resamples: int = 2000,
    root: int = 0,
) -> Threshold:
    """First n, from below, at which the median over seeds rises to `value`.

    Between two sizes the median is taken as linear in ln n.  With the train MSE and
    value = σ²/2 this is a definition of the optimisation threshold that sees how far a
    network is from interpolating, not only whether.

    Bracketed: below `value` at the smallest size, and above it somewhere.

    Args:
        values: over (`dim`, seed), e.g. the train MSE; NaN for members without one.
            A failed member that "succeeds" counts as −∞, one that fails as +∞.
        value: the level that is crossed, in the units of `values`.
        dim: the axis n lies on; its coordinate must be positive.
        level: confidence of the interval (percentile bootstrap over seeds).
        resamples: number of bootstrap samples.
        root: seed of the resampling.

    Raises:
        ValueError: for another axis, fewer than two sizes, or a size without any
            result.
    """
    sizes, samples = curve(values, dim)
    is_failed = split_failed(samples, dim, sizes)

    def first(samples: Float[np.ndarray, "r n s"]) -> Float[np.ndarray, " r"]:
        return _first_crossings(sizes, medians(samples), value)

    def counted_as(filling: float) -> float:
        found = first(np.where(is_failed, filling, samples)[None])[0]
        return float(found) if 0 < found < np.inf else np.nan

    estimate = counted_as(np.nan)
    if np.isnan(estimate):
        starts_above = first(np.where(is_failed, np.nan, samples)[None])[0] == 0
        low, high = (0.0, sizes[0]) if starts_above else (sizes[-1], np.inf)
    else:
        low, high = over_seeds(
            first,
            np.where(is_failed, np.nan, samples),
            level=level,
            resamples=resamples,
            root=root,
        )
    return Threshold(
        estimate,
        float(low),
        float(high),
        level,
        bool(np.isfinite(estimate)),
        int(is_failed.sum()),
        counted_as(-np.inf),
        counted_as(np.inf),
        f"median rises to {value:.4g}, seeds resampled",
    )


def _first_crossings(
    sizes: Sizes, medians: Float[np.ndarray, "r n"], value: float
) -> Float[np.ndarray, " r"]:
    """First crossing of every row; 0 if already above at the start, inf if never."""
    is_above = medians >= value
    # The size after the crossing; 1 where there is none, replaced below.
    i = np.maximum(np.argmax(is_above, axis=1), 1)
    row, x = np.arange(len(medians)), np.log(sizes)
    below, above = medians[row, i - 1], medians[row, i]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = (value - below) / (above - below)
    # −∞ where failed members hold the median: any value is crossed at the size after.
    part = np.where(np.isneginf(below), 1.0, part)
    found = np.exp(x[i - 1] + part * (x[i] - x[i - 1]))
    found = np.where(is_above[:, 0], 0.0, found)
    return np.where(is_above.any(axis=1), found, np.inf)
