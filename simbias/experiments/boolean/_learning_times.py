"""Time to learn."""

import xarray as xr

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
