"""Least-squares slopes along an axis, for each place of the others."""

import xarray as xr


def slope_along(
    y: xr.DataArray, x: xr.DataArray, dim: str, *, skipna: bool = True
) -> xr.DataArray:
    """Slope of y against x along `dim`; NaN where fewer than two values of x are left.

    Args:
        y: values.
        x: where they are.
        dim: the axis.
        skipna: leave out places where y is NaN; otherwise the slope is NaN there.
    """
    x = x.where(y.notnull()) if skipna else x
    x, y = x - x.mean(dim), y - y.mean(dim)
    square = (x**2).sum(dim)
    return (x * y).sum(dim, skipna=skipna) / square.where(square > 0)


def slope_in_log(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Slope of values in the logarithm of the coordinate `dim`.

    NaN where a value is NaN; 0 for a single place.
    """
    x = xr.ufuncs.log(values[dim].astype(float))
    x = x - x.mean()
    return (x * values).sum(dim, skipna=False) / max(float((x**2).sum()), 1e-12)
