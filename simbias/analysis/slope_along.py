"""Least-squares slope along an axis, for each place of the others."""

import xarray as xr


def slope_along(y: xr.DataArray, x: xr.DataArray, dim: str) -> xr.DataArray:
    """Slope of y against x along `dim`; places where y is NaN are left out.

    NaN where fewer than two values of x are left.
    """
    x = x.where(y.notnull())
    x, y = x - x.mean(dim), y - y.mean(dim)
    square = (x**2).sum(dim)
    return (x * y).sum(dim) / square.where(square > 0)
