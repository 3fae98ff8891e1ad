"""Members that share a draw, as those of one seed."""

import xarray as xr


def of_draws(ds: xr.Dataset) -> xr.Dataset:
    """Draws in the place of seeds, which are copies of one another."""
    if "draw" not in ds.dims:
        ds = ds.expand_dims("draw")
    return ds.isel(seed=0, drop=True).rename(draw="seed")
