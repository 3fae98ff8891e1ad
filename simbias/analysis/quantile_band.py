"""Median and band over seeds, with the members that are missing in plain sight."""

import numpy as np
import xarray as xr
from jaxtyping import Float


def quantile_band(
    values: xr.DataArray, dim: str = "seed", level: float = 0.8
) -> xr.Dataset:
    """Quantiles ½ and (1 ∓ level)/2 along `dim`, of the members that have a value.

    A member is missing if its value is NaN or infinite.  Quantiles are those of the
    others, interpolated linearly; `n_missing` says how many they leave out, so that a
    figure can show it.

    Args:
        values: numbers over `dim` and any other dimensions.
        dim: the dimension that is summarised.
        level: share of the members between `low` and `high`.

    Returns:
        `low`, `median`, `high` (NaN where every member is missing), and the counts
        `n_used` and `n_missing`, over the other dimensions.

    Raises:
        ValueError: if there is no such dimension, or the level is not in (0, 1).
    """
    if dim not in values.dims:
        raise ValueError(
            f"`dim` must be a dimension of the values, got {dim!r}; they have "
            f"{values.dims}. Example: dim='seed'."
        )
    if not 0 < level < 1:
        raise ValueError(
            f"`level` must lie in (0, 1), got {level}. Example: level=0.8."
        )
    values = values.astype(float)
    is_used = np.isfinite(values)
    low, median, high = (
        xr.apply_ufunc(
            _quantile,
            values.where(is_used),
            input_core_dims=[[dim]],
            kwargs={"q": q},
        )
        for q in ((1 - level) / 2, 0.5, (1 + level) / 2)
    )
    band = xr.Dataset(
        {
            "low": low,
            "median": median,
            "high": high,
            "n_used": is_used.sum(dim),
            "n_missing": (~is_used).sum(dim),
        }
    )
    return band.assign_attrs(level=level)


def _quantile(
    values: Float[np.ndarray, "*rest s"], q: float
) -> Float[np.ndarray, "*rest"]:
    # NumPy warns about slices without any value; they get one and lose it again.
    is_empty = np.all(np.isnan(values), axis=-1)
    filled = np.where(is_empty[..., None], 0.0, values)
    return np.where(is_empty, np.nan, np.nanquantile(filled, q, axis=-1))
