"""Whether an effect is observed, by a rule that is fixed before anything is run."""

import dataclasses

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from simbias.analysis.interval import LEAST_SEEDS, check_level, few, present
from simbias.analysis.looks import level_of_look
from simbias.analysis.mean_interval import mean_interval
from simbias.core import Estimate
from simbias.errors import BadInput


def verdict(seen: Estimate, least: float | int) -> str:
    """What an interval for an effect says, 0 being none and `least` the smallest.

    "observed" if all of it is at `least` or above, "reversed" if all of it is at −least
    or below, "absent" if all of it lies between the two, "open" if it is too wide for
    any of these.  "undefined" if there is no value.

    Raises:
        ValueError: for a smallest effect that is not positive.
    """
    if not 0 < least < np.inf:
        raise BadInput(
            f"`least` must be positive, the smallest effect that counts, got {least}. "
            "Example: least=0.25."
        )
    if np.isnan(seen.value):
        return "undefined"
    if seen.low >= least:
        return "observed"
    if seen.high <= -least:
        return "reversed"
    return "absent" if -least < seen.low and seen.high < least else "open"


def effect_interval(
    values: ArrayLike,
    *,
    low: float | int = -np.inf,
    high: float | int = np.inf,
    share: float = 0.5,
    level: float = 0.95,
) -> Estimate:
    """Mean over the seeds by `mean_interval`, also where all values are equal.

    With k equal values v a law of values in [low, high] gives another one with a
    probability of at most q = 1 − (1 − level)^{1/k}, at confidence `level`: its mean
    lies between v − q(v − low) and v + q(high − v).  Where nearly all are equal, the
    bootstrap may have no end; it is then (1 − q) min + q low, q with (1 − level)/2, as
    values below all k are as rare, and (1 − q) max + q high.

    Reference: Wilks (1941), Ann. Math. Stat. 12, 91: what lies outside all values seen.

    Args:
        values: one per seed, NaN for one of which nothing can be said.
        low: least value that there can be.
        high: largest.
        share: of the seeds that must have a value; else there is none.
        level: confidence.

    Raises:
        ValueError: for a share outside (0, 1], a value out of range, or a level that
            is none.
    """
    check_level(level)
    if not 0 < share <= 1:
        raise BadInput(f"`share` must lie in (0, 1], got {share}. Example: 0.5.")
    seen = present(values)
    if seen.size and not (low <= seen.min() and seen.max() <= high):
        raise BadInput(
            f"`values` must lie in [{low}, {high}], got {seen.min()} … {seen.max()}."
        )
    if seen.size < max(1.0, share * np.size(values)):
        return few(np.nan, level, seen.size)
    if seen.size < LEAST_SEEDS or np.ptp(seen) > 0:
        return _bounded(mean_interval(seen, level=level), seen, low, high)
    low, high, value = float(low), float(high), float(seen[0])
    q = 1 - (1 - level_of_look(level)) ** (1 / seen.size)
    below = q * (value - low) if value > low else 0.0
    above = q * (high - value) if value < high else 0.0
    method = f"all {seen.size} values are equal, bounded"
    return Estimate(value, value - below, value + above, method, level)


def effect_table(
    values: xr.DataArray,
    *,
    least: float | int,
    low: float | int = -np.inf,
    high: float | int = np.inf,
) -> xr.Dataset:
    """value, low and high of `effect_interval` and `verdict`, over all axes but seeds.

    Args:
        values: over `seed` and any other axes, NaN for one of which nothing is known.
        least: the smallest effect that counts.
        low: least value that there can be.
        high: largest.
    """
    rows = values.transpose(..., "seed")
    shape, numbers = rows.shape[:-1], ("value", "low", "high")
    out = {k: np.full(shape, np.nan) for k in numbers}
    said = np.full(shape, "", dtype="<U9")
    for at in np.ndindex(*shape):
        seen = effect_interval(rows.values[at], low=low, high=high)
        said[at] = verdict(seen, least)
        for k in numbers:
            out[k][at] = getattr(seen, k)
    like = rows.isel(seed=0, drop=True)
    return xr.Dataset(
        {k: like.copy(data=v) for k, v in {**out, "verdict": said}.items()}
    )


def lost_verdicts(
    verdicts: xr.DataArray, dim: str, under: str
) -> list[tuple[str, ...]]:
    """The cells that are observed under one value of `dim` and not under another.

    Each as its coordinates, in the order of the axes, and its verdict; none if `dim`
    lacks the value.
    """
    if under not in verdicts[dim].values:
        return []
    is_there = verdicts.sel({dim: under}) == "observed"
    is_lost = (is_there & (verdicts != "observed")).transpose(*verdicts.dims)
    cells = [verdicts[tuple(at)] for at in np.argwhere(is_lost.values)]
    name = lambda one: tuple(str(one[k].item()) for k in verdicts.dims)
    return [(*name(one), str(one.item())) for one in cells]


def _bounded(
    seen: Estimate, values: np.ndarray, low: float | int, high: float | int
) -> Estimate:
    """The interval inside [low, high], with ends where the bootstrap has none."""
    if values.size < LEAST_SEEDS:
        return seen
    q = 1 - ((1 - level_of_look(seen.level)) / 2) ** (1 / values.size)
    below = (1 - q) * values.min() + q * low
    above = (1 - q) * values.max() + q * high
    return dataclasses.replace(
        seen,
        low=max(float(low), float(seen.low if np.isfinite(seen.low) else below)),
        high=min(float(high), float(seen.high if np.isfinite(seen.high) else above)),
    )


def expected_errors(cells: int, level: float = 0.95) -> float:
    """Most false verdicts by chance, on average: (1 − level) · cells.

    An interval misses the truth with probability 1 − level, and a verdict is false only
    if it does.  An effect that is well inside its band is hardly ever judged wrongly:
    this is the number for effects that all lie at an end of it.
    """
    return (1 - level) * cells
