"""Where a curve over the sample size passes a level."""

import numpy as np
import xarray as xr


def crossing(values: xr.DataArray, level: float) -> float:
    """The n at which the curve first passes `level`, up or down.

    Straight line in ln n between the two neighbours; points that are NaN are left out.

    Args:
        values: over `n`, usually a median over seeds.
        level: for instance σ²/2, for a train error that rises from 0 to σ².

    Returns:
        n, not rounded; NaN if the curve stays on one side.

    Raises:
        ValueError: if `n` is not the only dimension.
    """
    if values.dims != ("n",):
        raise ValueError(
            f"`values` must have the one dimension n, got {values.dims}. "
            "Example: values.median('seed')."
        )
    curve = values.dropna("n").sortby("n")
    log_n = np.log(curve["n"].values.astype(float))
    height = curve.values.astype(float) - level
    is_above = height > 0
    passes = np.flatnonzero(is_above[1:] != is_above[:-1])
    if len(passes) == 0:
        return float("nan")
    i = passes[0]
    # One height is > 0 and the other is not, so that they differ.
    share = height[i] / (height[i] - height[i + 1])
    return float(np.exp(log_n[i] + share * (log_n[i + 1] - log_n[i])))
