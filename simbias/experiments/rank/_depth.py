"""How a rank or an error goes with the depth."""

import xarray as xr

HUH = "Huh et al. (2023), arXiv:2103.10427"


def slope_in_log(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Slope of least squares of values on the logarithm of a coordinate."""
    x = xr.ufuncs.log(values[dim].astype(float))
    x = x - x.mean()
    return (x * values).sum(dim, skipna=False) / max(float((x**2).sum()), 1e-12)


def ends(ds: xr.Dataset) -> xr.Dataset:
    """The last record, called trained, and the first, called start."""
    return ds.isel(time=[-1, 0]).assign_coords(time=["trained", "start"])
