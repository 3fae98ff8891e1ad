"""Median over seeds, with a band, and how many seeds it stands on."""

import numpy as np
import xarray as xr

from simbias.analysis.interval import check_level
from simbias.errors import BadInput


def quantile_band(
    values: xr.DataArray, *, dim: str = "seed", level: float = 0.8
) -> xr.Dataset:
    """Median and central `level` of the values along `dim`, failures counted.

    Args:
        values: one per member; NaN or infinite for members without a value.
        dim: the axis that is summarised.
        level: 0.8 gives the quantiles 0.1 and 0.9: a spread, not a confidence.

    Returns:
        `median`, `low` and `high` over the finite members (NaN if there are none),
        `count` of them, and `failed`: those without a value (failed or not finished).

    Raises:
        ValueError: if there is no such axis, or for a level out of range.
    """
    check_level(level)
    if dim not in values.dims:
        raise BadInput(f"`dim` must be one of {values.dims}, got {dim!r}.")
    # An argument of the experiment may have one of these names.
    named = {"median", "low", "high", "count", "failed"} - {*values.dims}
    values = values.drop_vars(named, errors="ignore")
    is_finite = xr.apply_ufunc(np.isfinite, values)
    tail = (1 - level) / 2
    if not values.size:  # no members, or no times
        empty = is_finite.any(dim) * np.nan
        none = is_finite.sum(dim)
        names = ("median", "low", "high")
        return xr.Dataset(
            {**dict.fromkeys(names, empty), "count": none, "failed": none}
        )
    has_any = is_finite.any(dim)
    # A row without any value is given zeros first: numpy warns about an empty one.
    kept = values.where(is_finite).where(has_any, 0.0)
    bounds = kept.quantile([tail, 0.5, 1 - tail], dim=dim).where(has_any)
    low, median, high = (bounds.isel(quantile=i, drop=True) for i in range(3))
    return xr.Dataset(
        {
            "median": median,
            "low": low,
            "high": high,
            "count": is_finite.sum(dim),
            "failed": (~is_finite).sum(dim),
        }
    )
