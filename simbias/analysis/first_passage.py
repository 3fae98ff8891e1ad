"""When a history first reaches a level."""

import numpy as np
import xarray as xr

from simbias.errors import BadInput


def first_passage(
    values: xr.DataArray, level: float, *, dim: str = "time"
) -> xr.DataArray:
    """First time at which `values`, linear between its records, reaches `level`.

    Choose a scale on which the history is close to linear: the logarithm of what grows
    exponentially.  The first record's time if that is at the level already, NaN if the
    level is never reached.  A record that is NaN counts as below.

    Args:
        values: over `dim` and any other axes.
        level: reached from below.
        dim: the axis of time; its coordinate must increase.

    Raises:
        ValueError: if there is no such axis, or its coordinate does not increase.
    """
    if dim not in values.dims:
        raise BadInput(f"`dim` must be one of {values.dims}, got {dim!r}.")
    times = values[dim].values.astype(np.float64)
    if np.any(np.diff(times) <= 0):
        raise BadInput(f"the coordinate `{dim}` must increase, got {times[:5]}.")
    values = values.transpose(..., dim)
    rows = values.values
    is_above = rows >= level
    last = np.argmax(is_above, axis=-1)
    first = np.maximum(last - 1, 0)
    at = lambda i: np.take_along_axis(rows, i[..., None], axis=-1)[..., 0]
    below, above = at(first), at(last)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (level - below) / (above - below)
    # From −∞ or NaN to the level: somewhere in between, the record after is known.
    part = np.where(np.isfinite(part), part, 1.0)
    found = times[first] + part * (times[last] - times[first])
    found = np.where(is_above.any(axis=-1), found, np.nan)
    return values.isel({dim: 0}, drop=True).copy(data=found)
