"""Ranks and errors at both ends of training, by depth."""

import xarray as xr

HUH = "Huh et al. (2023), arXiv:2103.10427"


def ends(ds: xr.Dataset) -> xr.Dataset:
    """The last record, named "trained", and the first, named "start"."""
    return ds.isel(time=[-1, 0]).assign_coords(time=["trained", "start"])
