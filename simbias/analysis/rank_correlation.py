"""Whether something rises along an axis: Spearman's rank correlation."""

import numpy as np
import scipy
import xarray as xr

from simbias.errors import BadInput


def rank_correlation(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Spearman's ρ of `values` with their place along `dim`.

    Ties have the mean of their ranks.  NaN where a value is NaN, or all are equal.
    One number for each place of the other axes: an interval comes from those, such as
    `mean_interval` over seeds.

    Args:
        values: over `dim` and any other axes.
        dim: the axis along which they may rise; in the order in which it stands.

    Raises:
        ValueError: if there is no such axis, or it has fewer than three places.
    """
    if dim not in values.dims:
        raise BadInput(f"`dim` must be one of {values.dims}, got {dim!r}.")
    count = values.sizes[dim]
    if count < 3:
        raise BadInput(
            f"a correlation of ranks needs three places, `{dim}` has {count}."
        )
    rows = values.transpose(..., dim)
    ranks = scipy.stats.rankdata(rows.values, axis=-1, nan_policy="propagate")
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)
    place = np.arange(count) - (count - 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = ranks @ place / np.sqrt((ranks**2).sum(axis=-1) * (place**2).sum())
    return rows.isel({dim: 0}, drop=True).copy(data=rho)
