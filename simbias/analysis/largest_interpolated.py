"""The last sample size at which networks still interpolate."""

import numpy as np
import xarray as xr


def largest_interpolated(
    train_risk: xr.DataArray, noise_variance: float, fraction: float = 0.01
) -> float:
    """Largest n whose median train risk over seeds is below fraction · σ².

    A member without a value (NaN) counts as one that does not interpolate, so that
    failures can only lower the result.

    Args:
        train_risk: final train MSE without ½, over (n, seed).
        noise_variance: σ².
        fraction: of σ², how much counts as zero.

    Returns:
        One of the sampled n; NaN if none interpolates.

    Raises:
        ValueError: if the dimensions are not n and seed.
    """
    if set(train_risk.dims) != {"n", "seed"}:
        raise ValueError(
            f"`train_risk` must have the dimensions n and seed, got {train_risk.dims}. "
            "Example: ds.train_risk.isel(time=-1)."
        )
    median = train_risk.astype(float).fillna(np.inf).median("seed", skipna=False)
    n = median["n"].values[median.values < fraction * noise_variance]
    return float(n.max()) if len(n) else float("nan")
