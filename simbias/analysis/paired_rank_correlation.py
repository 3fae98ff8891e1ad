"""Whether two quantities go up and down together: Spearman's ρ with an interval."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simbias.analysis._interval import check_level, unknown
from simbias.core import Estimate
from simbias.errors import BadInput

_RESAMPLES = 1999
_LEAST = 6


def paired_rank_correlation(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Spearman's ρ of pairs, with the percentile interval of resampled pairs.

    Pairs of which one value is NaN are left out.  Ties have the mean of their ranks; a
    resample in which all are equal is left out.  Cells of a grid are no sample of a
    law: the interval says how much ρ hangs on single cells.

    Args:
        first: one value per pair.
        second: as many.
        level: confidence; an interval needs six pairs.

    Raises:
        ValueError: for two numbers of values.

    Reference: Efron & Tibshirani (1993), An introduction to the bootstrap, section 13.
    """
    check_level(level)
    a, b = (np.ravel(np.asarray(v, np.float64)) for v in (first, second))
    if a.size != b.size:
        raise BadInput(
            f"`first` and `second` must be paired, got {a.size} and {b.size} values."
        )
    kept = ~(np.isnan(a) | np.isnan(b))
    a, b = a[kept], b[kept]
    if a.size < _LEAST or np.ptp(a) == 0 or np.ptp(b) == 0:
        why = f"of {a.size} pairs, a correlation needs {_LEAST} that are not all equal"
        return unknown(np.nan, level, why)
    rng = np.random.default_rng(0)
    drawn = rng.integers(a.size, size=(_RESAMPLES, a.size))
    found = _spearman(a[drawn], b[drawn])
    found = found[~np.isnan(found)]
    value = float(_spearman(a[None], b[None])[0])
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high), "bootstrap of pairs", level)


def _spearman(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of every row."""
    ranks = [scipy.stats.rankdata(v, axis=-1) for v in (a, b)]
    x, y = (r - r.mean(axis=-1, keepdims=True) for r in ranks)
    size = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    with np.errstate(invalid="ignore"):
        return np.where(size > 0, (x * y).sum(-1) / np.where(size > 0, size, 1), np.nan)
