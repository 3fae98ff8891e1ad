"""Spearman's rank correlation, of two lists, of rates and times, of rows of a table."""

import itertools

import numpy as np
import xarray as xr

_LEAST, _RESAMPLES = 6, 999


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """ρ of two lists, with the mean of ranks for ties; NaN where all are equal."""
    rank = lambda v: (v[:, None] > v).sum(1) + (v[:, None] == v).sum(1) / 2
    x, y = (rank(v) - rank(v).mean() for v in (a, b))
    size = np.sqrt((x**2).sum() * (y**2).sum())
    return float((x * y).sum() / size) if size > 0 else np.nan


def foretold_order(rates: xr.DataArray, times: xr.DataArray, dim: str) -> xr.DataArray:
    """ρ of rates with 1/time along `dim`, for each place of the other axes.

    1 if what has the larger rate comes first.  What never comes, at a time of NaN, is
    last, together; NaN if fewer than two come.  Places without a rate are left out.
    """
    dims = [k for k in times.dims if k != dim]
    time = times.transpose(*dims, dim).values
    rate = rates.transpose(*dims, dim).values
    out = np.full(time.shape[:-1], np.nan)
    for at in np.ndindex(*out.shape):
        is_there = np.isfinite(rate[at])
        t, r = time[at][is_there], rate[at][is_there]
        if np.isfinite(t).sum() >= 2:
            out[at] = spearman(r, -np.where(np.isfinite(t), t, np.inf))
    return xr.DataArray(out, {k: times[k].values for k in dims}, dims)


def row_correlations(values: xr.DataArray, rows: str, group: str) -> xr.Dataset:
    """ρ of every two rows of a table over all its cells, and its interval.

    Over `rows` and "other"; NaN where fewer than six cells have both.  Cells of one
    group are much alike: the interval is of resampled groups, not cells, and NaN where
    fewer than six groups have both.

    Args:
        values: over `rows`, `group` and any other axes; NaN for a cell without one.
        rows: the axis whose places are compared.
        group: the axis whose places are resampled.

    Returns:
        rho, low and high, at 0.95.
    """
    names = values[rows].values
    cells = values.transpose(rows, group, ...).values
    rng = np.random.default_rng(0)
    out = {k: np.full((len(names),) * 2, np.nan) for k in ("rho", "low", "high")}
    for i, j in itertools.combinations(range(len(names)), 2):
        is_both = np.isfinite(cells[i]) & np.isfinite(cells[j])
        there = np.flatnonzero(is_both.any(axis=1))
        if is_both.sum() < _LEAST:
            continue
        rho = lambda which, pair=(i, j), has=is_both: spearman(
            *(cells[k][which][has[which]] for k in pair)
        )
        seen = [rho(there), np.nan, np.nan]
        if there.size >= _LEAST:
            drawn = rng.choice(there, (_RESAMPLES, there.size))
            seen[1:] = np.nanquantile([rho(which) for which in drawn], (0.025, 0.975))
        for key, value in zip(out, seen, strict=True):
            out[key][i, j] = out[key][j, i] = value
    coords = {rows: names, "other": names}
    return xr.Dataset({k: ((rows, "other"), v) for k, v in out.items()}, coords)
