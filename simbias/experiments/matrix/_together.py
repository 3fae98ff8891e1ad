"""Which biases travel together, which break, and whether the first kernel knew."""

import itertools

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.analysis.verdicts import effect_interval

_LEAST, _RESAMPLES = 6, 999
# The level of `learned` that counts as learned, of the rows whose task has parts.
LEVELS = {"spectral": 0.9, "principal": 0.5}


def together(table: xr.Dataset) -> xr.Dataset:
    """Spearman's ρ of the values of two biases over all cells, and its interval.

    Over bias and other; NaN where fewer than six cells have both.  Cells of one setting
    are much alike: the interval is of resampled settings, not cells, and NaN where
    fewer than six settings have both.
    """
    names = table["bias"].values
    values = table["value"].transpose("bias", "setting", "flow.optimiser").values
    rng = np.random.default_rng(0)
    out = {k: np.full((len(names),) * 2, np.nan) for k in ("rho", "low", "high")}
    for i, j in itertools.combinations(range(len(names)), 2):
        is_both = np.isfinite(values[i]) & np.isfinite(values[j])
        there = np.flatnonzero(is_both.any(axis=1))
        if is_both.sum() < _LEAST:
            continue
        rho = lambda which, pair=(i, j), has=is_both: _rho(
            *(values[k][which][has[which]] for k in pair)
        )
        seen = [rho(there), np.nan, np.nan]
        if there.size >= _LEAST:
            drawn = rng.choice(there, (_RESAMPLES, there.size))
            seen[1:] = np.nanquantile([rho(which) for which in drawn], (0.025, 0.975))
        for key, value in zip(out, seen, strict=True):
            out[key][i, j] = out[key][j, i] = value
    coords = {"bias": names, "other": names}
    return xr.Dataset({k: (("bias", "other"), v) for k, v in out.items()}, coords)


def broken(table: xr.Dataset) -> list[tuple[str, str, str, str]]:
    """Bias, setting, optimiser and verdict: observed under GD, and not under that."""
    if "gd" not in table["flow.optimiser"].values:
        return []
    out = []
    for bias in table["bias"].values:
        for setting in table["setting"].values:
            said = table["verdict"].sel(bias=bias, setting=setting)
            if said.sel({"flow.optimiser": "gd"}).item() != "observed":
                continue
            for name in said["flow.optimiser"].values:
                other = str(said.sel({"flow.optimiser": name}).item())
                if other != "observed":
                    out.append((str(bias), str(setting), str(name), other))
    return out


def foretold(ds: xr.Dataset, bias: str) -> xr.DataArray:
    """Spearman's ρ of the first kernel's rates of the parts with 1/time, per member.

    1 if the tangent kernel at the start has the order in which parts are learned.
    Those never learned are last, together; NaN if fewer than two are.
    """
    part = ds.sel(bias=bias, drop=True)
    level = LEVELS[bias]
    time = first_passage(part["learned"], level)
    time = time.transpose(*_dims(part), "part").values
    rate = part["rates"].isel(time=0).transpose(*_dims(part), "part").values
    out = np.full(time.shape[:-1], np.nan)
    for at in np.ndindex(*out.shape):
        is_there = np.isfinite(rate[at])
        t, r = time[at][is_there], rate[at][is_there]
        if np.isfinite(t).sum() >= 2:
            out[at] = _rho(r, -np.where(np.isfinite(t), t, np.inf))
    dims = _dims(part)
    return xr.DataArray(out, {k: part[k].values for k in dims}, dims)


def foretold_table(ds: xr.Dataset) -> xr.Dataset:
    """Mean of `foretold` and its interval, over bias, setting and optimiser."""
    names = [k for k in ds["bias"].values if k in LEVELS]
    out = []
    for name in names:
        seen = foretold(ds, name)
        of = lambda v: np.array(
            [(e := effect_interval(v, low=-1, high=1)).value, e.low, e.high]
        )
        out.append(
            xr.apply_ufunc(
                of,
                seen,
                input_core_dims=[["seed"]],
                output_core_dims=[["end"]],
                vectorize=True,
            )
        )
    whole = xr.concat(out, xr.DataArray(names, dims="bias", name="bias"))
    ends = ("rho", "low", "high")
    return xr.Dataset({k: whole.isel(end=i) for i, k in enumerate(ends)})


def _dims(part: xr.Dataset) -> tuple[str, ...]:
    return tuple(str(k) for k in part["status"].dims)


def _rho(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's, with the mean of ranks for ties."""
    rank = lambda v: (v[:, None] > v).sum(1) + (v[:, None] == v).sum(1) / 2
    x, y = (rank(v) - rank(v).mean() for v in (a, b))
    size = np.sqrt((x**2).sum() * (y**2).sum())
    return float((x * y).sum() / size) if size > 0 else np.nan
