"""The result of every definition of a threshold, and what they share."""

import dataclasses
from collections.abc import Callable

import numpy as np
import scipy
import xarray as xr
from jaxtyping import Bool, Float, Int

from simbias.analysis.interval import check_level
from simbias.analysis.looks import level_of_look
from simbias.core import Estimate
from simbias.errors import BadInput

# Resamples looked at together: bounds the memory at any number of seeds.
_CHUNK = 100

Sizes = Float[np.ndarray, " n"]
Curve = Float[np.ndarray, "n s"]
Statistic = Callable[[Float[np.ndarray, "r n s"]], Float[np.ndarray, " r"]]
Counts = Int[np.ndarray, " n"]
Ends = tuple[float, float]
# Of sizes and medians: n*, NaN unless bracketed, and the ends of its interval, None for
# those of sign tests.
Reading = Callable[[Sizes, Float[np.ndarray, " n"]], tuple[float, Ends | None]]


@dataclasses.dataclass(frozen=True)
class Threshold:
    """Where a curve crosses, how well that is known, and what failures could change.

    `value` is NaN unless `is_bracketed`, that is unless the crossing lies inside the
    grid; `low` and `high` then say on which side of the grid it lies (0 and inf where
    nothing is known).  Members without a value are left out of `value` and counted in
    `n_failed`; `if_failed_succeed` and `if_failed_fail` are the values with all of them
    counted one way or the other.
    """

    value: float
    low: float
    high: float
    method: str
    level: float
    is_bracketed: bool
    n_failed: int
    if_failed_succeed: float
    if_failed_fail: float
    slope: float = float("nan")

    @property
    def estimate(self) -> Estimate:
        """The value with its interval, for a claim."""
        return Estimate(self.value, self.low, self.high, self.method, self.level)

    def describe(self) -> str:
        """One sentence."""
        if self.is_bracketed:
            text = (
                f"n* = {self.value:.4g}, {100 * self.level:.3g}% interval "
                f"[{self.low:.4g}, {self.high:.4g}] ({self.method})"
            )
        elif self.low > 0:
            text = f"n* is not bracketed: above {self.low:.4g} ({self.method})"
        elif np.isfinite(self.high):
            text = f"n* is not bracketed: below {self.high:.4g} ({self.method})"
        else:
            text = f"n* is not bracketed ({self.method})"
        if self.n_failed:
            ends = sorted((self.if_failed_succeed, self.if_failed_fail))
            text += f"; {self.n_failed} failed members left out, "
            if np.all(np.isfinite(ends)):
                text += f"n* between {ends[0]:.4g} and {ends[1]:.4g} however they count"
            else:
                text += "counted one way or the other it is not bracketed"
        return text + "."


def curve(values: xr.DataArray, dim: str) -> tuple[Sizes, Curve]:
    """Sizes in increasing order, and the values over (size, seed) as float64.

    Raises:
        ValueError: naming what is wrong with the axes.
    """
    if set(values.dims) != {dim, "seed"}:
        raise BadInput(
            f"the values must have the dimensions ({dim!r}, 'seed'), got "
            f"{values.dims}. Choose one of each other "
            "axis first, e.g. values.isel(time=-1)."
        )
    values = values.transpose(dim, "seed").sortby(dim)
    sizes = values[dim].values.astype(np.float64)
    if len(sizes) < 2 or sizes[0] <= 0 or np.any(np.diff(sizes) <= 0):
        raise BadInput(
            f"the grid of `{dim}` must hold at least two different positive sizes, got "
            f"{sizes.tolist()}."
        )
    return sizes, values.values.astype(np.float64)


def over_seeds(
    statistic: Statistic, values: Curve, *, level: float, resamples: int, root: int
) -> tuple[float, float]:
    """Percentile interval from resampled seeds.

    Whole seeds are drawn, each with its values at all sizes: right whether or not a
    seed means the same draw at every size.
    """
    check_level(level)
    if resamples < 1:
        raise BadInput(
            f"`resamples` must be a positive integer, got {resamples}. "
            "Example: resamples=2000."
        )
    rng = np.random.default_rng(root)
    seeds = values.shape[1]
    found = []
    for first in range(0, resamples, _CHUNK):
        draws = rng.integers(seeds, size=(min(_CHUNK, resamples - first), seeds))
        found.append(statistic(np.moveaxis(values[:, draws], 0, 1)))
    tail = (1 - level) / 2
    estimates = np.concatenate(found)
    # NaN: no finished seed of some size was drawn.
    estimates = estimates[~np.isnan(estimates)]
    # Not interpolated: some estimates are infinite, and some live on the grid.
    low, high = np.quantile(estimates, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def split_failed(values: Curve, dim: str, sizes: Sizes) -> Bool[np.ndarray, "n s"]:
    """Members without a value.

    Raises:
        ValueError: if a size has nothing else.
    """
    is_failed = ~np.isfinite(values)
    is_empty = is_failed.all(axis=1)
    if is_empty.any():
        raise BadInput(
            f"no member has a result at {dim} = {sizes[is_empty].tolist()}; leave "
            "those sizes out, e.g. with .sel, and say so."
        )
    return is_failed


def medians(values: Float[np.ndarray, "... s"]) -> Float[np.ndarray, "..."]:
    """Median over the last axis of what is not NaN; NaN where there is nothing."""
    ordered = np.sort(values, axis=-1)  # NaN last
    count = np.sum(~np.isnan(values), axis=-1, keepdims=True)
    middle = [np.maximum(count - 1, 0) // 2, count // 2]
    middle[1] = np.minimum(middle[1], values.shape[-1] - 1)
    low, high = (np.take_along_axis(ordered, i, axis=-1)[..., 0] for i in middle)
    return (low + high) / 2


def by_medians(
    values: xr.DataArray, value: float, dim: str, level: float, text: str, read: Reading
) -> Threshold:
    """n* as read off the medians over seeds, with the interval of sign tests.

    Args:
        values: over (`dim`, seed); NaN for members without one.
        value: the level that the medians are compared with.
        dim: the axis n lies on.
        level: confidence of the interval.
        text: what n* is, before the value.
        read: n* and, where the sign tests do not give them, its ends.

    Raises:
        ValueError: as `curve` and `split_failed`.
    """
    level = level_of_look(level)
    sizes, samples = curve(values, dim)
    is_failed = split_failed(samples, dim, sizes)

    def counted_as(filling: float) -> tuple[float, Ends | None]:
        return read(sizes, medians(np.where(is_failed, filling, samples)))

    found, ends = counted_as(np.nan)
    if ends is None:
        below = np.sum(~is_failed & (samples < value), axis=1)
        ends = sign_interval(sizes, below, np.sum(~is_failed, axis=1), level)
    return Threshold(
        found,
        *ends,
        f"{text} {value:.4g}, sign tests",
        level,
        bool(np.isfinite(found)),
        int(is_failed.sum()),
        counted_as(-np.inf)[0],
        counted_as(np.inf)[0],
    )


def first_crossings(
    sizes: Sizes, medians: Float[np.ndarray, "r n"], value: float
) -> Float[np.ndarray, " r"]:
    """First crossing of every row; 0 if already above at the start, inf if never.

    Between two sizes the median is taken as linear in ln n.
    """
    is_above = medians >= value
    # The size after the crossing; 1 where there is none, replaced below.
    i = np.maximum(np.argmax(is_above, axis=1), 1)
    row, x = np.arange(len(medians)), np.log(sizes)
    below, above = medians[row, i - 1], medians[row, i]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        part = (value - below) / (above - below)
    # −∞ where failed members hold the median: any value is crossed at the size after.
    part = np.where(np.isfinite(part), np.clip(part, 0, 1), 1.0)
    found = np.exp(x[i - 1] + part * (x[i] - x[i - 1]))
    found = np.where(is_above[:, 0], 0.0, found)
    return np.where(is_above.any(axis=1), found, np.inf)


def sign_interval(
    sizes: Float[np.ndarray, " n"], below: Counts, trials: Counts, level: float
) -> tuple[float, float]:
    """Sizes between which P(value below) falls through ½; 0 or inf beyond the grid.

    From either end of the grid inwards, a size is left behind as long as a one-sided
    sign test says on which side of the crossing it lies.  The first wrong step is one
    test of level (1 − level)/2, whatever the law, and however the sizes depend on each
    other: only P(value below) must not rise with the size.

    Reference: Hsu & Berger (1999), J. Am. Stat. Assoc. 94, 468 (steps in fixed order).
    """
    tail = (1 - level) / 2
    is_before = scipy.stats.binom.sf(below - 1, trials, 0.5) <= tail
    is_after = scipy.stats.binom.cdf(below, trials, 0.5) <= tail
    first = int(np.cumprod(is_before).sum())
    last = len(sizes) - int(np.cumprod(is_after[::-1]).sum())
    low = float(sizes[first - 1]) if first else 0.0
    return low, float(sizes[last]) if last < len(sizes) else np.inf
