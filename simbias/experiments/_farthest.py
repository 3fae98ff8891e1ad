"""The member that is farthest from what a paper says."""

import numpy as np
import xarray as xr


def farthest(values: xr.DataArray | np.ndarray, law: float) -> float:
    """Of all entries the one farthest from `law`, in their own units; NaN if one is."""
    seen = np.ravel(np.asarray(values))
    return float(seen[np.argmax(np.abs(seen - law))])
