"""Does a number fall between two times, over the same seeds?"""

import numpy as np
import xarray as xr
from scipy import stats


def paired_fall(before: xr.DataArray, after: xr.DataArray) -> tuple[float, float]:
    """Mean of before − after over the seeds, and the p-value of "it is not positive".

    One-sided paired t-test; members without one of the two values do not count.

    Returns:
        The mean, NaN for no member, and p, NaN for fewer than three.
    """
    fall = (before - after).values.ravel()
    fall = fall[np.isfinite(fall)]
    mean = float(fall.mean()) if fall.size else float("nan")
    if fall.size < 3:
        return mean, float("nan")
    error = float(fall.std(ddof=1)) / np.sqrt(fall.size)
    if error == 0:
        return mean, float(mean <= 0)
    return mean, float(stats.t.sf(mean / error, fall.size - 1))
