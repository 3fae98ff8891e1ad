"""The clock of a member, which stands still after its end."""

import xarray as xr


def until_end(ds: xr.Dataset) -> xr.DataArray:
    """Times at which records are drawn; after the end of a member they only repeat."""
    return ds["time"].where(ds["time"] < ds["end_time"], ds["end_time"])
