"""The sample size at which success is as likely as not."""

import numpy as np
import xarray as xr

from simbias.analysis._logistic import (
    Counts,
    Fits,
    fit_logistic,
    is_separated,
    profile_interval,
)
from simbias.analysis._threshold import (
    Curve,
    Sizes,
    Threshold,
    curve,
    over_seeds,
    split_failed,
)
from simbias.errors import BadInput


def threshold(
    is_success: xr.DataArray,
    *,
    dim: str = "n",
    level: float = 0.95,
    resamples: int = 2000,
    root: int = 0,
) -> Threshold:
    """n* with P(success) = ½, from a logistic fit in ln n.

    P(success | n) = 1/(1 + exp(−slope·(ln n − ln n*)))

    by maximum likelihood, with the percentile bootstrap over seeds as its interval.
    Where at most one size is mixed the likelihood has no maximum and resampled seeds
    hardly differ; the estimate is then Firth's and the interval that of the profile
    likelihood, at least the gap of the grid where no size is mixed.  `method` says
    which.

    Bracketed: the rates at the smallest and the largest size lie on different sides
    of ½, and the fit crosses between them.

    Args:
        is_success: over (`dim`, seed); true, false, or 1, 0, and NaN for members
            without a result.
        dim: the axis n* lies on; its coordinate must be positive.
        level: confidence of the interval.
        resamples: number of bootstrap samples.
        root: seed of the resampling.

    Raises:
        ValueError: for another axis, fewer than two sizes, other values, or a size
            without any result.
    """
    sizes, values = curve(is_success, dim)
    is_failed = split_failed(values, dim, sizes)
    if not np.all(is_failed | (values == 0) | (values == 1)):
        raise BadInput(
            "`is_success` must be true, false, 1, 0 or NaN. Example: train_risk < 1e-3."
        )
    values = np.where(is_failed, np.nan, values)
    rates = np.nanmean(values, axis=1)
    n_failed = int(is_failed.sum())
    estimate, slope = _crossing(sizes, values)
    others = {
        "if_failed_succeed": _crossing(sizes, np.where(is_failed, 1.0, values))[0],
        "if_failed_fail": _crossing(sizes, np.where(is_failed, 0.0, values))[0],
    }
    if np.isnan(estimate):
        low, high = _side(sizes, rates)
        return Threshold(
            np.nan,
            low,
            high,
            level,
            False,
            n_failed,
            **others,
            method=f"success in {rates[0]:.0%} at {dim} = {sizes[0]:g} and "
            f"{rates[-1]:.0%} at {sizes[-1]:g}",
        )
    if is_separated(*_counts(values[None]))[0]:
        low, high = _profile(sizes, values, level)
        method = "logistic fit by Firth, profile likelihood"
    else:
        direction = _direction(rates)
        low, high = over_seeds(
            lambda drawn: _crossings(sizes, *_counts(drawn), direction)[0],
            values,
            level=level,
            resamples=resamples,
            root=root,
        )
        method = "logistic fit by maximum likelihood, seeds resampled"
    return Threshold(
        estimate,
        low,
        high,
        level,
        True,
        n_failed,
        **others,
        method=method,
        slope=slope,
    )


def _profile(sizes: Sizes, values: Curve, level: float) -> tuple[float, float]:
    is_rising = _direction(np.nanmean(values, axis=1)) > 0
    counts = _counts(values[None])
    return profile_interval(sizes, *counts, is_rising=is_rising, level=level)


def _direction(rates: np.ndarray) -> float:
    """1 if success becomes more likely with n, −1 if less."""
    return float(np.sign(rates[-1] - rates[0]))


def _crossing(sizes: Sizes, values: Curve) -> tuple[float, float]:
    """n* and slope; NaN if the crossing is not bracketed."""
    rates = np.nanmean(values, axis=1)
    if not (rates[0] - 0.5) * (rates[-1] - 0.5) < 0:
        return np.nan, np.nan
    counts = _counts(values[None])
    found, slope = _crossings(sizes, *counts, _direction(rates))
    is_inside = sizes[0] <= found[0] <= sizes[-1]
    return (float(found[0]), float(slope[0])) if is_inside else (np.nan, np.nan)


def _crossings(
    sizes: Sizes, successes: Counts, trials: Counts, direction: float
) -> tuple[Fits, Fits]:
    """n* and slope of every row; 0 or inf where the fit runs the wrong way."""
    log_size, slope = fit_logistic(sizes, successes, trials)
    is_mostly_success = successes.sum(1) > trials.sum(1) / 2
    beyond = np.where(is_mostly_success == (direction < 0), np.inf, -np.inf)
    log_size = np.where(slope * direction > 0, log_size, beyond)
    with np.errstate(over="ignore"):
        return np.exp(log_size), slope


def _counts(values: np.ndarray) -> tuple[Counts, Counts]:
    return np.nansum(values, axis=-1), np.sum(~np.isnan(values), axis=-1).astype(float)


def _side(sizes: Sizes, rates: np.ndarray) -> tuple[float, float]:
    """Where the crossing must lie if the trend goes on; falling if there is none."""
    is_falling = rates[-1] <= rates[0]
    if np.all(rates > 0.5):
        return (float(sizes[-1]), np.inf) if is_falling else (0.0, float(sizes[0]))
    if np.all(rates < 0.5):
        return (0.0, float(sizes[0])) if is_falling else (float(sizes[-1]), np.inf)
    return 0.0, np.inf
