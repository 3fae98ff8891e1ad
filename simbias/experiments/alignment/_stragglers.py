"""Stragglers of a run: their place, size and growth; and the panels."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.analysis.interval import present
from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.figures import colour_of, law_line
from simbias.theory.straggler_share import straggler_share

AXES = ("sigma", "d", "n", "m", "scale")
# 1 − V when stragglers are counted is e^−REST, and for how long they are followed then,
# in units of √n/σ.
REST, WINDOW = 5.0, 8.0
# Marks of the largest size and of the smallest; others have dots.
_LAST, _FIRST, _OTHER = "o", "x", "."


def left_behind(ds: xr.Dataset) -> xr.Dataset:
    """Place, size and growth of every straggler, and their number; NaN for others.

    `place` is v^(d−1).  `size` is relative to its law.  `growth` is the later rate of
    ln ‖w‖, NaN if the run is too short.  `number` over (…, seed) counts them; `law` is
    its law.
    """
    weights = ds["neuron_weights"].transpose(*AXES, "seed", "time", "neuron", "weight")
    noise, cells = float(ds["sigma"].max()), weights.shape[: len(AXES)]
    found = np.full((3, *cells, ds.sizes["seed"], weights.sizes["neuron"]), np.nan)
    law = np.zeros(cells)
    for at in np.ndindex(*cells):
        here = weights[at]
        cell = {k: here[k].item() for k in AXES}
        found[(slice(None), *at)] = _of_cell(here, cell, cell["sigma"] or noise)
        law[at] = cell["m"] * float(straggler_share(cell["scale"], cell["d"]))
    names, each = ("place", "size", "growth"), (*AXES, "seed", "neuron")
    values = {k: (each, v) for k, v in zip(names, found, strict=True)}
    number = np.isfinite(found[0]).sum(axis=-1)
    coords = {k: ds[k].values for k in (*AXES, "seed")}
    return xr.Dataset(
        {**values, "number": (each[:-1], number), "law": (AXES, law)}, coords
    )


def _of_cell(here: xr.DataArray, cell: dict[str, Any], noise: float) -> np.ndarray:
    """Place, size and growth over (seed, neuron)."""
    d, n, time = int(cell["d"]), cell["n"], here["time"].values
    w, a = here.values[..., :d], here.values[..., d]
    fitted = cell["scale"] ** 2 * (d + 1) / 8
    first = REST - np.log(fitted)
    last = first + WINDOW * n**0.5 / noise if noise else np.inf
    i, j = np.searchsorted(time, (first, last))
    if i == len(time):
        return np.full((3, len(w), w.shape[2]), np.nan)
    size = np.linalg.norm(w, axis=-1)
    along = w[:, i].sum(axis=-1) / d**0.5 * np.sign(a[:, i]) / size[:, i]
    tangent = np.sqrt((1 + along) / (1 - along))
    is_left = along < 0
    law = size[:, 0] * fitted**0.5 * (1 + tangent**2)
    out = np.stack([tangent ** (d - 1), size[:, i] / law, np.full_like(along, np.nan)])
    if j < len(time):
        out[2] = np.log(size[:, j] / size[:, i]) / (time[j] - time[i])
    return np.where(is_left, out, np.nan)


def draw_numbers(axes: Axes, found: xr.Dataset) -> None:
    """Means over seeds and σ, of every n, m and λ."""
    for i, d in enumerate(found["d"].values):
        for j, mark in ((-1, _LAST), (0, _FIRST)):
            here = found.sel(d=d).isel(n=j).stack(cell=["m", "scale"])
            number, law = here["number"].mean("sigma"), here["law"].isel(sigma=0)
            reach = 1.96 * number.std("seed") / number.sizes["seed"] ** 0.5
            dots = {"fmt": mark, "ms": 4, "lw": 1, "color": colour_of(i)}
            dots["label"] = f"d = {d}, n = {int(here['n'])}"
            axes.errorbar(law, number.mean("seed"), reach, **dots)
    span = np.array([found["law"].min(), found["law"].max()])
    law_line(axes, span, span, "law", line=":")


def draw_places(axes: Axes, found: xr.Dataset) -> None:
    """Distribution of the places."""
    for i, d in enumerate(found["d"].values):
        values = np.sort(present(found["place"].sel(d=d)))
        share = np.arange(1, len(values) + 1) / max(len(values), 1)
        axes.plot(values, share, color=colour_of(i), lw=1)
    unit = np.array([0.0, 1.0])
    law_line(axes, unit, unit, line=":")


def draw_growth(axes: Axes, found: xr.Dataset) -> None:
    """Means over stragglers of all seeds; a line through 0 for the largest n."""
    x = found["sigma"] / found["n"] ** 0.5
    marks = [_FIRST, *[_OTHER] * (found.sizes["n"] - 2), _LAST][-found.sizes["n"] :]
    along = np.array([0.0, float(x.max())])
    for i, d in enumerate(found["d"].values):
        seen = found["growth"].sel(d=d).transpose("seed", "sigma", "n", "m", "neuron")
        rate = seen.mean(["seed", "m", "neuron"]).values
        for j, mark in enumerate(marks):
            of_size = seen.isel(n=j).transpose("sigma", ...).values
            dots = {"fmt": mark, "ms": 4, "lw": 1, "color": colour_of(i)}
            axes.errorbar(x.isel(n=j), rate[:, j], list(map(_reach, of_size)), **dots)
        law = along * rate[-1, -1] / float(x[-1, -1])
        label = None if i else "∝ σ/√n, through the largest n"
        law_line(axes, along, law, label, line="--", colour=colour_of(i))


def _reach(values: np.ndarray) -> float:
    """Ends of the 95 % interval over seeds."""
    seen = jackknife_interval(nan_mean, values)
    return seen.high - seen.value if np.isfinite(seen.high) else 0.0


def nan_mean(values: np.ndarray) -> float:
    return float(np.nanmean(values))


def log_width(axis: xr.DataArray) -> float:
    """Width of an axis, in logarithms."""
    return float(np.log(axis[-1] / axis[0]))


def log_slope(ends: np.ndarray, wide: float) -> float:
    """Slope between the ends of an axis, in logarithms."""
    low, high = ends
    return float(np.log(high / low)) / wide if low * high > 0 and wide else np.nan
