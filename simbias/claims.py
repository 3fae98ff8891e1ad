"""Kinds of claims: each makes what was seen into an estimate with its interval.

    exact       one number without an error of sampling
    largest     of all members; `smallest`; `near`, the one farthest from a law
    mean        over seeds; `median`; `difference`, of pairs
    predicted   a statistic in the range of a law for such a run
    share       of the members for which something is true
    slope       of a line against an axis
    within      any other estimate

All take the statement, what was seen, the ends of the band and the source.  What a
claim needs of a result is said afterwards: `.given(t >= 1000, "t ≥ 1000")`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from simbias.analysis.interval import present, unknown
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_interval import median_interval
from simbias.analysis.slope_interval import slope_interval
from simbias.analysis.wilson import wilson
from simbias.core import Claim, Estimate
from simbias.errors import BadInput

# A whole number may be given for one.
Number = float | int


def within(
    statement: str, seen: Estimate, low: Number, high: Number, source: str
) -> Claim:
    """Any estimate, within a band."""
    return Claim(statement, seen, float(low), float(high), source)


def exact(
    statement: str,
    value: Number,
    low: Number,
    high: Number,
    source: str,
    *,
    tolerance: float = 0.0,
    most: Number = np.inf,
) -> Claim:
    """A number of this very run, such as the worst of its members.

    Args:
        statement: what the number is.
        value: as seen; NaN leaves the claim undecided.
        low: end of the band.
        high: the other end.
        source: who says so.
        tolerance: error of the number, relative to it; a count has none.
        most: what such a number cannot exceed.
    """
    value = float(value)
    if not tolerance >= 0:
        raise BadInput(f"`tolerance` must not be negative, got {tolerance}.")
    reach = tolerance * abs(value) if np.isfinite(value) else 0.0
    top = max(value, min(value + reach, float(most)))
    method = f"exact to {tolerance:g} of it" if tolerance else "exact"
    estimate = Estimate(value, value - reach, top, method, 1.0)
    return within(statement, estimate, low, high, source)


def largest(
    statement: str,
    values: ArrayLike,
    low: Number,
    high: Number,
    source: str,
    *,
    tolerance: float = 0.0,
    most: Number = np.inf,
) -> Claim:
    """The largest of all `values`, undecided if one is NaN; of none, not applicable."""
    worst = _picked(np.max, values)
    claim = exact(statement, worst, low, high, source, tolerance=tolerance, most=most)
    return claim.given(np.size(values) > 0, "a member of this kind")


def smallest(
    statement: str,
    values: ArrayLike,
    low: Number,
    high: Number,
    source: str,
    *,
    tolerance: float = 0.0,
    most: Number = np.inf,
) -> Claim:
    """The smallest of all `values`; NaN and none as for `largest`."""
    worst = _picked(np.min, values)
    claim = exact(statement, worst, low, high, source, tolerance=tolerance, most=most)
    return claim.given(np.size(values) > 0, "a member of this kind")


def near(
    statement: str,
    values: ArrayLike,
    law: Number,
    low: Number,
    high: Number,
    source: str,
    *,
    tolerance: float = 0.0,
) -> Claim:
    """Of all `values` the one farthest from `law`; NaN and none as for `largest`."""
    if not np.isfinite(law):
        raise BadInput(f"`law` must be a finite number, got {law}.")
    worst = _picked(lambda v: v[np.argmax(np.abs(v - law))], values)
    claim = exact(statement, worst, low, high, source, tolerance=tolerance)
    return claim.given(np.size(values) > 0, "a member of this kind")


def predicted(
    statement: str, value: Number, low: Number, high: Number, source: str
) -> Claim:
    """A statistic of this run, in the range that a law predicts for such a run.

    The band is that of the law's own errors of sampling, at this number of members, and
    they are not counted again: a check that the run agrees with the law, which says
    little where the band is wide.
    """
    value = float(value)
    estimate = Estimate(value, value, value, "exact; the band is of sampling", 1.0)
    return within(statement, estimate, low, high, source)


def mean(
    statement: str, values: ArrayLike, low: Number, high: Number, source: str
) -> Claim:
    """The mean of one value per seed."""
    return within(statement, mean_interval(values), low, high, source)


def median(
    statement: str, values: ArrayLike, low: Number, high: Number, source: str
) -> Claim:
    """The median of one value per seed."""
    return within(statement, median_interval(values), low, high, source)


def difference(
    statement: str,
    before: ArrayLike,
    after: ArrayLike,
    low: Number,
    high: Number,
    source: str,
) -> Claim:
    """The mean over seeds of before − after, one value of each per seed.

    Raises:
        ValueError: if the two are not of the same seeds, one by one.
    """
    if np.shape(before) != np.shape(after) or not _share_seeds(before, after):
        raise BadInput(
            "`before` and `after` must be of the same seeds, one by one, got the "
            f"shapes {np.shape(before)} and {np.shape(after)}."
        )
    apart = np.subtract(np.asarray(before), np.asarray(after))
    return mean(statement, apart, low, high, source)


def share(
    statement: str, is_true: ArrayLike, low: Number, high: Number, source: str
) -> Claim:
    """The share of members for which something is true, of those with a result.

    Args:
        statement: what is true of them.
        is_true: one per member: true, false, 1, 0, or NaN for one without a result.
        low: end of the band.
        high: the other end.
        source: who says so.

    Raises:
        ValueError: for other values.
    """
    seen = present(is_true)
    if not np.all((seen == 0) | (seen == 1)):
        raise BadInput("`is_true` must be true, false, 1, 0 or NaN. Example: risk < 1.")
    if not seen.size:
        nothing = unknown(np.nan, 0.95, "no member has a result")
        return within(statement, nothing, low, high, source)
    shown = wilson(int(seen.sum()), seen.size)
    return within(statement, shown, low, high, source)


def slope(
    statement: str, x: ArrayLike, y: ArrayLike, low: Number, high: Number, source: str
) -> Claim:
    """The slope of y against x; of logarithms, the exponent of a power law."""
    return within(statement, slope_interval(x, y), low, high, source)


def _share_seeds(before: Any, after: Any) -> bool:
    """False for two arrays with axes or coordinates that differ."""
    if not (hasattr(before, "coords") and hasattr(after, "coords")):
        return True
    shared = {*before.dims} & {*before.coords} & {*after.coords}
    is_same = lambda dim: np.array_equal(before[dim].values, after[dim].values)
    return before.dims == after.dims and all(map(is_same, shared))


def _picked(pick: Callable[[np.ndarray], float], values: ArrayLike) -> float:
    seen = np.ravel(np.asarray(values))
    return float(pick(seen)) if seen.size else np.nan
