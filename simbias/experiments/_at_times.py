"""Values of a history at one time of each network."""

import numpy as np
import xarray as xr


def at_times(values: xr.DataArray, moments: xr.DataArray) -> xr.DataArray:
    """Values at a time of each seed, linear between records; NaN without a time.

    Args:
        values: over `seed` and `time`.
        moments: over `seed`.
    """
    time, rows = values["time"].values, values.transpose("seed", "time").values
    pairs = zip(moments.values, rows, strict=True)
    found = [np.interp(t, time, row) if np.isfinite(t) else np.nan for t, row in pairs]
    return moments.copy(data=np.asarray(found, float))
