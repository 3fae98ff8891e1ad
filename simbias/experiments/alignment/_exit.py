"""When a network leaves zero."""

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage

# The loss has moved when it has lost this share.
EXIT = 0.01


def exit_time(risk: xr.DataArray) -> xr.DataArray:
    """Time at which the loss has lost the share `EXIT`, NaN if it never has.

    What is lost grows exponentially at first, so its logarithm is interpolated.

    Args:
        risk: train error over time and any other axes, from time 0 on.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.log((1 - risk / risk.isel(time=0)).values)
    return first_passage(risk.copy(data=lost), float(np.log(EXIT)))
