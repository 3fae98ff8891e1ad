"""How a threshold scales with a parameter: n* ∝ qᵖ."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from simbias.analysis._threshold import (
    curve,
    first_crossings,
    medians,
    over_seeds,
    split_failed,
)
from simbias.analysis.interval import LEAST_SEEDS, approximate, few
from simbias.analysis.looks import level_of_look
from simbias.core import Estimate
from simbias.errors import BadInput


def power_law(
    values: xr.DataArray,
    value: float,
    *,
    along: str,
    dim: str = "n",
    level: float = 0.95,
    resamples: int = 2000,
    root: int = 0,
) -> Estimate:
    """Exponent p of n* ∝ qᵖ, with n* the size at which a median rises to `value`.

    p is the slope of least squares through (ln q, ln n*), n* as in `median_crossing`.
    Seeds are resampled, the same for every q: right for members of one seed that share
    their draw, and careful otherwise.  A resample in which some n* leaves the grid
    counts against both ends of the interval.

    Args:
        values: over (`along`, `dim`, seed), e.g. the train MSE over σ²; NaN for members
            without one, which are left out.
        value: the level that is crossed, in the units of `values`.
        along: the axis q lies on; its coordinate must be positive.
        dim: the axis n* lies on; likewise.
        level: confidence of the interval.
        resamples: number of bootstrap samples.
        root: seed of the resampling.

    Returns:
        p, from −∞ to ∞ for fewer than six seeds; NaN if an n* of the whole sample lies
        outside the grid.  Below 16 seeds `method` says that the level is approximate.

    Raises:
        ValueError: for another axis, fewer than two values of it, or a size without
            any result.
    """
    level = level_of_look(level)
    if along not in values.dims or values.sizes[along] < 2:
        raise BadInput(
            f"`along` must be an axis of at least two values, got {along!r} of "
            f"{dict(values.sizes)}. Example: along='d'."
        )
    values = values.sortby(along)
    q = values[along].values.astype(np.float64)
    if q[0] <= 0:
        raise BadInput(f"`{along}` must be positive, got {q.tolist()}.")
    sizes, rows = np.empty(0), []
    for i in range(len(q)):
        sizes, samples = curve(values.isel({along: i}, drop=True), dim)
        is_failed = split_failed(samples, dim, sizes)
        rows.append(np.where(is_failed, np.nan, samples))
    x = np.log(q) - np.log(q).mean()

    def exponents(samples: Float[np.ndarray, "r _ s"]) -> Float[np.ndarray, " r"]:
        middle = medians(samples).reshape(-1, len(sizes))
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = np.log(first_crossings(sizes, middle, value))
            return crossed.reshape(-1, len(q)) @ (x / (x @ x))

    flat = np.concatenate(rows)
    estimate = float(exponents(flat[None])[0])
    ends = np.array([-np.inf, np.inf])
    seeds = flat.shape[1]
    if np.isfinite(estimate) and seeds < LEAST_SEEDS:
        return few(estimate, level, seeds)
    if np.isfinite(estimate):
        # An exponent that is not known may be anything.
        unknown_is = lambda v: lambda s: np.where(np.isfinite(p := exponents(s)), p, v)
        ends = [
            over_seeds(
                unknown_is(end), flat, level=level, resamples=resamples, root=root
            )[i]
            for i, end in enumerate(ends)
        ]
    else:
        estimate = np.nan
    method = approximate("least squares in logarithms, seeds resampled", seeds)
    return Estimate(estimate, float(ends[0]), float(ends[1]), method, level)
