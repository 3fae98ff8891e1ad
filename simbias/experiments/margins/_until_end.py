"""Times of the records of a network, constant after the end of its training."""

import xarray as xr


def until_end(ds: xr.Dataset) -> xr.DataArray:
    """Times for figures; after the end of its training a network's records repeat."""
    return ds["time"].where(ds["time"] < ds["end_time"], ds["end_time"])
