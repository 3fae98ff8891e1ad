"""When half of a quantity is gone."""

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.errors import BadInput


def half_time(values: xr.DataArray, *, dim: str = "time") -> xr.DataArray:
    """First time at which `values` are half of their first record; NaN if never.

    Their logarithm is linear between records.

    Args:
        values: not negative, over `dim` and any other axes.
        dim: the axis of time; its coordinate must increase.

    Raises:
        ValueError: if there is no such axis, or its coordinate does not increase.
    """
    if dim not in values.dims:
        raise BadInput(f"`dim` must be one of {values.dims}, got {dim!r}.")
    logs = xr.ufuncs.log(values.clip(min=1e-300))
    return first_passage(logs.isel({dim: 0}) - logs, float(np.log(2)), dim=dim)
