"""Height of the barrier between two networks."""

import xarray as xr


def barrier(path: xr.DataArray) -> xr.DataArray:
    """Max over α of L(α) − (1 − α) L(0) − α L(1), 0 or more.

    Of the error it is the instability of Frankle et al., where both ends err alike.

    Args:
        path: L on the line from one network to another, over `alpha` from 0 to 1.

    Reference: Entezari, Sedghi, Saukh & Neyshabur (2022), arXiv:2110.06296, equation 1.
    """
    alpha = path["alpha"]
    ends = (1 - alpha) * path.isel(alpha=0) + alpha * path.isel(alpha=-1)
    return (path - ends).max("alpha", skipna=False)
