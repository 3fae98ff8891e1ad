"""How long a network needs, and how a number grows with a size."""

import numpy as np
import xarray as xr
from jaxtyping import Float, Real

from simbias.analysis.first_passage import first_passage

# Accuracy at which a parity counts as learned.
LEARNED = 0.9


def learning_times(ds: xr.Dataset, step: float) -> xr.DataArray:
    """Time at which the accuracy is 0.9, between records by a straight line.

    NaN for a member that does not get there; `step` for one that is there before, such
    as a start that gives the same sign to all rows of the empty subset.

    Args:
        ds: with `accuracy` over the time.
        step: time that one step takes.
    """
    times = first_passage(ds["accuracy"], LEARNED)
    return times.clip(min=step, keep_attrs=True)


def slopes_of_seeds(
    x: Real[np.ndarray, " x"], values: xr.DataArray, along: str
) -> Float[np.ndarray, " seed"]:
    """Least-squares slope of ln value against x, one of each seed.

    Args:
        x: at the places of the axis.
        values: over the axis and `seed`; NaN for one leaves that seed without a slope.
        along: name of the axis.
    """
    centred = np.asarray(x, float) - np.mean(x)
    logs = np.log(values.transpose(along, "seed").values)
    return centred @ logs / (centred @ centred)
