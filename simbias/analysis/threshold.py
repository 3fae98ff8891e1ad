"""The sample size at which success is as likely as not."""

import numpy as np
import xarray as xr

from simbias.analysis._logistic import (
    Counts,
    Fits,
    design_effect,
    fit_logistic,
    is_separated,
    profile_interval,
)
from simbias.analysis._threshold import (
    Curve,
    Sizes,
    Threshold,
    curve,
    sign_interval,
    split_failed,
)
from simbias.analysis.interval import approximate
from simbias.analysis.looks import level_of_look
from simbias.errors import BadInput


def threshold(
    is_success: xr.DataArray,
    *,
    dim: str = "n",
    level: float = 0.95,
) -> Threshold:
    """n* with P(success) = ½, from a logistic fit in ln n.

    P(success | n) = 1/(1 + exp(−slope·(ln n − ln n*)))

    by maximum likelihood, or Firth's where at most one size is mixed, for which the
    likelihood has no maximum.  Its interval is that of the profile likelihood, at least
    the gap of the grid where no size is mixed, with the quantile of F(1, seeds − 1) in
    place of χ²₁, and wider by the design effect if the members of a seed succeed
    together at several sizes, as on shared draws.  It is approximate: `method` says so
    below 16 seeds, and docs/testing.md how often it holds the truth from 4 on.

    Bracketed: the rates at the smallest and the largest size lie on different sides
    of ½, and the fit crosses between them.  If not, the interval is that of sign tests
    at the sizes of the grid, as for `median_crossing`, with success that falls in n
    unless it is seen to rise; it has no ends where rates lie on both sides of ½.

    Args:
        is_success: over (`dim`, seed); true, false, or 1, 0, and NaN for members
            without a result.
        dim: the axis n* lies on; its coordinate must be positive.
        level: confidence of the interval.

    Raises:
        ValueError: for another axis, fewer than two sizes, other values, or a size
            without any result.
    """
    level = level_of_look(level)
    sizes, values = curve(is_success, dim)
    is_failed = split_failed(values, dim, sizes)
    if not np.all(is_failed | (values == 0) | (values == 1)):
        raise BadInput(
            "`is_success` must be true, false, 1, 0 or NaN. Example: train_risk < 1e-3."
        )
    n_failed = int(is_failed.sum())
    # A seed without any result is none.
    values, is_failed = (v[:, ~is_failed.all(axis=0)] for v in (values, is_failed))
    values = np.where(is_failed, np.nan, values)
    rates = np.nanmean(values, axis=1)
    value, slope = _crossing(sizes, values)
    others = {
        "if_failed_succeed": _crossing(sizes, np.where(is_failed, 1.0, values))[0],
        "if_failed_fail": _crossing(sizes, np.where(is_failed, 0.0, values))[0],
    }
    if np.isnan(value):
        low, high = _side(sizes, values, level)
        method = (
            f"success in {rates[0]:.0%} at {dim} = {sizes[0]:g} and "
            f"{rates[-1]:.0%} at {sizes[-1]:g}, "
        )
        is_known = low > 0 or high < np.inf
        method += "sign tests" if is_known else "nothing can be said"
    else:
        low, high, method = _interval(sizes, values, value, slope, level)
    return Threshold(
        value,
        low,
        high,
        method,
        level,
        bool(np.isfinite(value)),
        n_failed,
        **others,
        slope=slope,
    )


def _interval(
    sizes: Sizes, values: Curve, value: float, slope: float, level: float
) -> tuple[float, float, str]:
    """Its ends and how they were found."""
    counts = _counts(values[None])
    widened, fit = 1.0, "Firth's"
    if not is_separated(*counts)[0]:
        widened, fit = design_effect(sizes, values, np.log(value), slope), "best"
    low, high = profile_interval(
        sizes,
        *counts,
        is_rising=slope > 0,
        level=level,
        seeds=values.shape[1],
        widened=widened,
    )
    method = f"{fit} logistic fit, profile likelihood over {widened:.3g}"
    return low, high, approximate(method, values.shape[1])


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


def _side(sizes: Sizes, values: Curve, level: float) -> tuple[float, float]:
    """Where the crossing lies if the trend goes on; falling if there is none."""
    rates = np.nanmean(values, axis=1)
    if not (np.all(rates > 0.5) or np.all(rates < 0.5)):
        return 0.0, np.inf
    (won,), (trials,) = _counts(values[None])
    before = won if rates[-1] <= rates[0] else trials - won
    return sign_interval(sizes, before.astype(int), trials.astype(int), level)
