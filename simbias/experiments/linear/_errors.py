"""Errors of the networks of `min_norm`, inside the span of the samples and outside."""

import numpy as np
import xarray as xr

from simbias.experiments.linear._ways import RATES

# Records, from the first, that are at most one step of descent apart.
STEPS = 21
# In the factors of a step, errors below this share of the first are rounding.
_SEEN = 1e-6


def distance(ds: xr.Dataset) -> xr.DataArray:
    """‖w − (X⁺y + P⊥w₀)‖/‖X⁺y‖ at every record."""
    inside = (ds["row_error"] ** 2).sum("mode", skipna=False)
    outside = (_moved(ds) ** 2).sum("input", skipna=False)
    return (inside + outside) ** 0.5 / ds["least_norm"]


def leak(ds: xr.Dataset) -> xr.DataArray:
    """‖P⊥(w − w₀)‖/‖X⁺y‖ at every record."""
    square = (_moved(ds) ** 2).sum("input", skipna=False)
    return square**0.5 / ds["least_norm"]


def in_a_step(ds: xr.Dataset) -> xr.DataArray:
    """Factors of the errors from an early record to the next, one descent step later.

    NaN for methods without an entry in `RATES`, and where the previous error is below a
    millionth of the largest initial one.
    """
    part, rate = ds.isel(time=slice(STEPS)), rates(ds)
    # A record is of the first step that reaches its time.
    reached = xr.ufuncs.ceil(part["time"] / rate * (1 - 1e-12))
    error = part["row_error"]
    is_seen = abs(error) > _SEEN * abs(error.isel(time=0)).max("mode")
    before = error.where(is_seen).shift(time=1)
    return (error / before).where(reached.diff("time") == 1)


def rates(ds: xr.Dataset) -> xr.DataArray:
    """Learning rate η of full gradient descent; NaN for the other methods."""
    ways = ds["flow.way"]
    return ways.copy(data=[RATES.get(way, np.nan) for way in ways.values.tolist()])


def decay(ds: xr.Dataset) -> float:
    """t·λₙ at the end, the least of all networks that finished; NaN if none did.

    λₙ is the smallest eigenvalue in the span: under gradient flow, and descent with a
    small learning rate, the slowest error has fallen by e^{−λₙt}.
    """
    slowest = ds["eigenvalues"].isel(mode=int(ds["n"]) - 1)
    return float(slowest.min() * ds["time"].max())


def _moved(ds: xr.Dataset) -> xr.DataArray:
    """P⊥(w − w₀), whose first record is at time 0."""
    return ds["outside"] - ds["outside"].isel(time=0)
