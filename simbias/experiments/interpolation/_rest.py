"""Whether networks interpolate: at the last time, and for t → ∞."""

import numpy as np
import xarray as xr

from simbias.analysis.threshold import threshold
from simbias.core import AT_REST, Estimate
from simbias.results import is_finished

# A member interpolates if its train error is below this share of σ².
INTERPOLATED = 0.01


def interpolates(ds: xr.Dataset) -> xr.DataArray:
    """1 if the final train error is below 1 % of σ², 0 if not, NaN if failed."""
    below = ds["train_risk"].isel(time=-1) < INTERPOLATED * ds["sigma"] ** 2
    return below.astype(float).where(is_finished(ds))


def known_limits(ds: xr.Dataset) -> xr.Dataset:
    """The train error over σ² for t → ∞, and whether the network interpolates.

    `loss` is that of a network with a proven limit.  `interpolates` is 1, 0, or NaN if
    neither is known.  A network that interpolates at any time does so for ever, since
    the loss falls.
    """
    last = ds["train_risk"].isel(time=-1) / ds["sigma"] ** 2
    is_proven = ds["status"].isin([int(s) for s in AT_REST])
    is_known = is_proven | (last < INTERPOLATED)
    verdict = (last < INTERPOLATED).astype(float).where(is_known)
    return xr.Dataset({"loss": last.where(is_known), "interpolates": verdict})


def size_of_half(verdict: xr.DataArray) -> Estimate:
    """n* for any outcome of the undecided networks: the hull of both intervals.

    Args:
        verdict: 1, 0 or NaN, over `n` and `seed`.
    """
    sample = verdict.transpose("n", "seed")
    ways = [threshold(sample.fillna(v)) for v in (0.0, 1.0)]
    value = float(np.sqrt(ways[0].value * ways[1].value))
    low, high = min(w.low for w in ways), max(w.high for w in ways)
    method = f"logistic, {int(sample.isnull().sum())} undecided counted both ways"
    return Estimate(value, low, high, method)
