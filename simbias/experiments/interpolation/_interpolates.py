"""What it is for a member to interpolate."""

import xarray as xr

from simbias.results import is_finished

# A member interpolates if its train error is below this share of σ².
INTERPOLATED = 0.01


def interpolates(ds: xr.Dataset) -> xr.DataArray:
    """1 where the final train error is below 1 % of σ², 0 where not, NaN if failed."""
    below = ds["train_risk"].isel(time=-1) < INTERPOLATED * ds["sigma"] ** 2
    return below.astype(float).where(is_finished(ds))
