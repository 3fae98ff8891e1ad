"""Rows of the table of claims: what was seen, as an estimate, beside a band.

    value_of       one number without an error of sampling
    largest_of     of all members; `smallest_of`; `farthest_of`, from a law
    mean_of        over seeds; `median_of`; `difference_of`, of pairs
    statistic_of   a statistic in the range of a law for such a run
    share_of       of the members for which something is true
    slope_of       of a line against an axis
    estimate_of    any other estimate

All take the statement, what was seen, the band (low, high) and the source.  What was
seen may come from `simbias.analysis.at`: if the axis lacks that value, the claim is not
applicable and names it.  What all rows need of a result is said once:

    Claims(needs={"t ≥ 1000": t >= 1000}).rows(mean_of(…), largest_of(…))
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from simbias.analysis.at import needs_of
from simbias.analysis.interval import present
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_interval import median_interval
from simbias.analysis.replicates import are_of_same_seeds, check_replicates
from simbias.analysis.slope_interval import slope_interval
from simbias.analysis.wilson import share_interval
from simbias.core import Claim, Estimate
from simbias.errors import BadInput

# A whole number may be given for one.
Number = float | int
Band = tuple[Number, Number]


@dataclasses.dataclass(frozen=True)
class Claims:
    """Rows that are about the same runs.

    Args:
        needs: what a run must have -> whether it does.
        where: the part of the result that the rows are about, put before each
            statement: Claims(where="m = 20").rows(mean_of("loss", …)) states
            "m = 20: loss".
    """

    needs: Mapping[str, bool | np.bool_] = dataclasses.field(default_factory=dict)
    where: str = ""

    def rows(self, *claims: Claim) -> list[Claim]:
        """The claims; not applicable where one of the needs is not met."""
        rows, before = [], f"{self.where}: " if self.where else ""
        for claim in claims:
            claim = dataclasses.replace(claim, statement=before + claim.statement)
            for text, is_met in self.needs.items():
                claim = claim.given(is_met, text)
            rows.append(claim)
        return rows


def estimate_of(
    statement: str, seen: Estimate, band: Band, source: str, *, of: Iterable[Any] = ()
) -> Claim:
    """Any estimate; `of` are the arrays that it was computed from.

    Raises:
        ValueError: for a band that is no pair of numbers, low ≤ high.
    """
    if np.shape(band) != (2,) or not band[0] <= band[1]:
        raise BadInput(f"`band` must be (low, high), low ≤ high, got {band}.")
    low, high = band
    missing = ", ".join(needs_of(*of))
    claim = Claim(statement, seen, float(low), float(high), source)
    return claim.given(not missing, missing)


def value_of(
    statement: str,
    value: SupportsFloat,
    band: Band,
    source: str,
    *,
    tolerance: float = 0.0,
    most: Number = np.inf,
) -> Claim:
    """A number of this very run, such as the worst of its members.

    Args:
        statement: what the number is.
        value: as seen; with NaN the claim is inconclusive.
        band: where the paper, or theory, has it.
        source: who says so.
        tolerance: error of the number, relative to it; a count has none.
        most: what such a number cannot exceed.
    """
    number = float(value)
    if not tolerance >= 0:
        raise BadInput(f"`tolerance` must not be negative, got {tolerance}.")
    reach = tolerance * abs(number) if np.isfinite(number) else 0.0
    top = max(number, min(number + reach, float(most)))
    method = f"exact to {tolerance:g} of it" if tolerance else "exact"
    estimate = Estimate(number, number - reach, top, method, 1.0)
    return estimate_of(statement, estimate, band, source, of=[value])


def largest_of(
    statement: str,
    values: ArrayLike,
    band: Band,
    source: str,
    *,
    tolerance: float = 0.0,
    most: Number = np.inf,
) -> Claim:
    """The largest of `values`; one NaN: inconclusive; no values: not applicable."""
    return _picked(
        np.max, statement, values, band, source, tolerance=tolerance, most=most
    )


def smallest_of(
    statement: str,
    values: ArrayLike,
    band: Band,
    source: str,
    *,
    tolerance: float = 0.0,
    most: Number = np.inf,
) -> Claim:
    """The smallest of all `values`; NaN and none as for `largest_of`."""
    return _picked(
        np.min, statement, values, band, source, tolerance=tolerance, most=most
    )


def farthest_of(
    statement: str,
    values: ArrayLike,
    law: Number,
    band: Band,
    source: str,
    *,
    tolerance: float = 0.0,
) -> Claim:
    """Of all `values` the one farthest from `law`; NaN and none as for `largest_of`."""
    if not np.isfinite(law):
        raise BadInput(f"`law` must be a finite number, got {law}.")
    return _picked(
        lambda v: v[np.argmax(np.abs(v - law))],
        statement,
        values,
        band,
        source,
        tolerance=tolerance,
    )


def statistic_of(
    statement: str, value: SupportsFloat, band: Band, source: str
) -> Claim:
    """A statistic of this run, in the range that a law predicts for such a run.

    The band is that of the law's own errors of sampling, at this number of members, and
    they are not counted again: a check that the run agrees with the law, which says
    little where the band is wide.
    """
    number = float(value)
    estimate = Estimate(number, number, number, "exact; the band is of sampling", 1.0)
    return estimate_of(statement, estimate, band, source, of=[value])


def mean_of(
    statement: str,
    values: ArrayLike,
    band: Band,
    source: str,
    *,
    within: Band = (-np.inf, np.inf),
) -> Claim:
    """The mean of one value per seed.

    Args:
        statement: what the values are.
        values: one per seed, NaN for none.
        band: where the paper, or theory, has the mean.
        source: who says so.
        within: range of all possible values, (−1, 1) for correlations.  The mean lies
            in it too, so that the interval ends there at the latest.

    Raises:
        ValueError: for values along another axis beside seeds, or out of range.
    """
    check_replicates("values", values)
    mean, (least, most) = mean_interval(values), within
    seen = present(values)
    if not np.all((least <= seen) & (seen <= most)):
        raise BadInput(f"`values` must lie in `within`, {within}, got {seen}.")
    low, high = np.clip([mean.low, mean.high], least, most).tolist()
    mean = dataclasses.replace(mean, low=low, high=high)
    return estimate_of(statement, mean, band, source, of=[values])


def median_of(statement: str, values: ArrayLike, band: Band, source: str) -> Claim:
    """The median of one value per seed.

    Raises:
        ValueError: for values along another axis beside seeds.
    """
    check_replicates("values", values)
    return estimate_of(statement, median_interval(values), band, source, of=[values])


def difference_of(
    statement: str,
    first: ArrayLike,
    second: ArrayLike,
    band: Band,
    source: str,
) -> Claim:
    """The mean over seeds of first − second, one value of each per seed.

    Raises:
        ValueError: if the two are not of the same seeds, one by one, or lie along
            another axis beside seeds.
    """
    for values in (first, second):
        check_replicates("values", values)
    if np.shape(first) != np.shape(second) or not are_of_same_seeds(first, second):
        raise BadInput(
            "`first` and `second` must be of the same seeds, one by one, got the "
            f"shapes {np.shape(first)} and {np.shape(second)}."
        )
    apart = mean_interval(np.subtract(np.asarray(first), np.asarray(second)))
    return estimate_of(statement, apart, band, source, of=[first, second])


def share_of(
    statement: str,
    is_true: ArrayLike,
    band: Band,
    source: str,
    *,
    pooled: tuple[str, ...] = (),
) -> Claim:
    """The share of members for which something is true, of those with a result.

    The interval is that of independent members.

    Args:
        statement: what is true of them; it says what is pooled.
        is_true: one per member: true, false, 1, 0, or NaN for one without a result.
        band: where the paper, or theory, has it.
        source: who says so.
        pooled: axes, beside seeds, whose values count as further members.

    Raises:
        ValueError: for other values, or for an axis that is not `pooled`.
    """
    check_replicates("is_true", is_true, pooled)
    return estimate_of(statement, share_interval(is_true), band, source, of=[is_true])


def slope_of(
    statement: str, x: ArrayLike, y: ArrayLike, band: Band, source: str
) -> Claim:
    """The slope of y against x; of logarithms, the exponent of a power law.

    The interval is that of a line through independent points: give medians or means
    over seeds.  For the spread of seeds, take `analysis.slope_along` of each and
    `mean_of`.  Of fewer than two points the slope is unknown.
    """
    shown = slope_interval(x, y) if np.size(x) > 1 else slope_interval([], [])
    return estimate_of(statement, shown, band, source, of=[x, y])


def _picked(
    pick: Callable[[np.ndarray], float],
    statement: str,
    values: ArrayLike,
    band: Band,
    source: str,
    **known: Any,
) -> Claim:
    seen, missing = np.ravel(np.asarray(values)), ", ".join(needs_of(values))
    one = float(pick(seen)) if seen.size else np.nan
    claim = value_of(statement, one, band, source, **known).given(not missing, missing)
    return claim.given(seen.size > 0, "a member of this kind")
