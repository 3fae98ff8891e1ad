"""How a rank or an error depends on the depth."""

import xarray as xr

HUH = "Huh et al. (2023), arXiv:2103.10427"


def slope_in_log(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Least-squares slope of values in the logarithm of a coordinate."""
    x = xr.ufuncs.log(values[dim].astype(float))
    x = x - x.mean()
    return (x * values).sum(dim, skipna=False) / max(float((x**2).sum()), 1e-12)


def ends(ds: xr.Dataset) -> xr.Dataset:
    """The last record, named "trained", and the first, named "start"."""
    return ds.isel(time=[-1, 0]).assign_coords(time=["trained", "start"])
