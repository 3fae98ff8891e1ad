"""A member's curve up to the time at which it ended."""

import numpy as np
import xarray as xr


def until_end(values: xr.DataArray, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and values to draw: afterwards the records of a member only repeat.

    Args:
        values: of one member over `time`.
        end: its `end_time`.

    Returns:
        The records before the end, and the last one at it.
    """
    time, seen = values["time"].values, values.values
    is_before = time < end
    return np.append(time[is_before], end), np.append(seen[is_before], seen[-1])
