"""Time to learn, and how a value grows with a size."""

import numpy as np
import xarray as xr
from jaxtyping import Float, Real

from simbias.analysis.first_passage import first_passage

# Accuracy at which a parity counts as learned.
LEARNED = 0.9


def learning_times(ds: xr.Dataset, step: float) -> xr.DataArray:
    """Time at which the accuracy reaches 0.9, interpolated linearly between records.

    NaN for a network that does not reach it.  `step` for a network that reaches it
    before the first step.  An example is an initial network that gives the same sign to
    all samples, for the empty subset.

    Args:
        ds: a result with `accuracy` over time.
        step: duration of one step.
    """
    times = first_passage(ds["accuracy"], LEARNED)
    return times.clip(min=step, keep_attrs=True)


def slopes_of_seeds(
    x: Real[np.ndarray, " x"], values: xr.DataArray, along: str
) -> Float[np.ndarray, " seed"]:
    """Least-squares slope of ln value against x for each seed.

    Args:
        x: positions along the axis.
        values: over the axis and `seed`; a NaN makes the slope of that seed NaN, and
            so does a single position.
        along: name of the axis.
    """
    centred = np.asarray(x, float) - np.mean(x)
    logs = np.log(values.transpose(along, "seed").values)
    square = centred @ centred
    return centred @ logs / (square if square > 0 else np.nan)
