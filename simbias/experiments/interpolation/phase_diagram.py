"""Where a network interpolates: a map of n/d and λ, refined where it is not decided.

A cell of the map is a size and a scale.  It interpolates if more than half of the
samples do, and the interval of that share tells which: all of it above ½, all below, or
undecided.  A sample of which it is not proven how it ends counts both ways.

    λ → 0    n* is that of aligned neurons: between d and d³, with no λ in it
    λ ~ 1    n* is that of the width: md weights fit n < m samples at least

and between the two n* does not fall with λ: the larger the start, the more neurons are
left behind.  `refined` says which draws, and which sizes between, decide most, and
`benchmarks/phase_diagram.py` adds them to the run, a folder that can be stopped.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, the threshold for small λ;
the map is ours.
"""

import dataclasses
import itertools
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from simbias.analysis.parts import parts, with_axes
from simbias.analysis.wilson import wilson
from simbias.claims import estimate_of, mean_of
from simbias.core import Claim, Estimate, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._rest import known_limits
from simbias.figures.style import blank, style
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.presets import presets
from simbias.stops import Stationary

# What the figure and the claims read.
AXES = ("n", "scale", "draw")
PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
OURS = "ours, docs/interpolation/phase_diagram.md"
# λ from which on a start is large, and down from which it is small.
LARGE, SMALL = 1.0, 1e-6
VERDICTS = {-1: "does not", 0: "undecided", 1: "interpolates"}
_COLOURS = ("#D55E00", "#DDDDDD", "#0072B2")
_BOTH = "Wilson score, what is unknown counted both ways"
# Draws that had not been run when the claims were written.
FRESH = 4000

experiment = presets(
    Experiment(
        name="phase_diagram",
        make=shared_sample,
        cell={
            "d": 2,
            "n": (2, 4, 6, 14),
            "m": 24,
            "scale": (1e-9, 1e-6, 1e-2, 1.0),
            "draw": tuple(range(FRESH, FRESH + 8)),
            "n_test": 1,
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(10.0, 1e4, 14),
        measures={"train_risk": TrainRisk()},
        # As in `interpolating_samples`: below this a member interpolates.
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {"n": (2, 14), "scale": (1e-6, 1.0), "draw": tuple(range(4))},
        "times": log_times(10.0, 1e3, 6),
    },
    paper={
        "cell": {
            "d": (5, 10, 20, 40),
            "n": (5, 10, 20, 40, 80, 160, 320, 640, 1280),
            "m": 200,
            "scale": (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
            "draw": tuple(range(FRESH, FRESH + 64)),
        },
        "times": log_times(10.0, 1e6, 40),
    },
)


def shares(ds: xr.Dataset) -> dict[tuple[int, float], Estimate]:
    """By (n, λ) the share that interpolates; what is unknown counts both ways."""
    ds = with_axes(ds, AXES).isel(seed=0, drop=True)
    seen, status = known_limits(ds)["interpolates"], ds["status"]
    return {
        (int(n), float(scale)): _share(
            seen.sel(n=n, scale=scale), status.sel(n=n, scale=scale)
        )
        for n, scale in itertools.product(ds["n"].values, ds["scale"].values)
    }


def verdict(seen: Estimate) -> int:
    """1 if all of the interval is above ½, −1 if all of it is below, else 0."""
    return int(seen.low > 0.5) - int(seen.high < 0.5)


def refined(ds: xr.Dataset, most: int) -> dict[tuple[int, float], int]:
    """By (n, λ) how many draws decide more: those that there are in what is decided.

    An undecided cell gets twice as many, up to `most`, unless the limits of most of its
    members are unknown, which takes time and not draws; between two sizes that are
    decided, and not alike, there is a new one, half way in ln n, with the draws of the
    first.
    """
    found, wanted = shares(ds), dict[tuple[int, float], int]()
    ds = with_axes(ds, AXES).isel(seed=0, drop=True)
    is_known = known_limits(ds)["interpolates"].notnull()
    for (n, scale), seen in found.items():
        draws = int(ds["status"].sel(n=n, scale=scale).notnull().sum())
        known = int(is_known.sel(n=n, scale=scale).sum())
        is_open = 2 * known >= draws > 0 and not verdict(seen)
        wanted[n, scale] = max(draws, min(2 * draws, most)) if is_open else draws
    for scale in map(float, ds["scale"].values):
        sizes = [n for n, here in found if here == scale and wanted[n, scale]]
        for n, after in itertools.pairwise(sizes):
            between = round((n * after) ** 0.5)
            pair = {verdict(found[n, scale]), verdict(found[after, scale])}
            if pair == {1, -1} and n < between < after:
                wanted[between, scale] = wanted[n, scale]
    return {cell: draws for cell, draws in wanted.items() if draws}


def figure(ds: xr.Dataset) -> Figure:
    """A colour for every cell that was run, and its share with the draws."""
    maps = [part for _, part in parts(ds, AXES)]
    with style():
        whole = blank(6.2 * len(maps), 4.2)
        panels = whole.subplots(1, len(maps), squeeze=False)[0]
        for axes, part in zip(panels, maps, strict=True):
            _draw(axes, part)
        patches = [
            Patch(color=c, label=v)
            for c, v in zip(_COLOURS, VERDICTS.values(), strict=True)
        ]
        whole.legend(handles=patches, loc="outside lower center", ncols=3)
    return whole


def _draw(axes: Axes, ds: xr.Dataset) -> None:
    found = shares(ds)
    scales = sorted({scale for _, scale in found})
    for i, scale in enumerate(scales):
        here = {n: v for (n, s), v in found.items() if s == scale and v.method}
        sizes = sorted(here)
        edges = _edges(np.log([n / int(ds["d"]) for n in sizes]))
        values = np.array([[verdict(here[n]) for n in sizes]])
        axes.pcolormesh(
            np.exp(edges),
            [i - 0.5, i + 0.5],
            values,
            cmap=ListedColormap(_COLOURS),
            vmin=-1,
            vmax=1,
            edgecolor="white",
        )
        for n in sizes:
            text = f"{_label(ds, n, scale)}\nof {here[n].method.split()[-1]}"
            place = (n / int(ds["d"]), i)
            shade = "white" if verdict(here[n]) else "black"
            looks: dict[str, Any] = {"color": shade, "ha": "center", "va": "center"}
            axes.text(*place, text, fontsize=7, **looks)
    axes.set_xscale("log")
    every = sorted({n / int(ds["d"]) for n, _ in found})
    axes.set_xticks(every, [f"{v:g}" for v in every])
    axes.minorticks_off()
    axes.set_yticks(range(len(scales)), [f"{v:g}" for v in scales])
    axes.grid(visible=False)
    axes.set_xlabel("n/d")
    axes.set_ylabel("initial scale λ")
    axes.set_title(f"share that interpolates, d = {int(ds['d'])}, m = {int(ds['m'])}")


def _label(ds: xr.Dataset, n: int, scale: float) -> str:
    """The share of a cell: from … to if some members are unknown, "?" if all are."""
    ds = with_axes(ds, AXES).isel(seed=0, drop=True).sel(n=n, scale=scale)
    values = known_limits(ds)["interpolates"].values[np.isfinite(ds["status"].values)]
    if np.isnan(values).all():
        return "?"
    low, high = np.nan_to_num(values, nan=0).mean(), np.nan_to_num(values, nan=1).mean()
    return f"{low:.2f}" if low == high else f"{low:.2f}…{high:.2f}"


def _edges(middles: np.ndarray) -> np.ndarray:
    """Half way between, and as far beyond the ends."""
    if len(middles) == 1:
        return middles + np.array([-0.5, 0.5])
    between = (middles[1:] + middles[:-1]) / 2
    first, last = 2 * middles[0] - between[0], 2 * middles[-1] - between[-1]
    return np.array([first, *between, last])


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both ends of the map, what λ changes between, and what it does not."""
    return [
        dataclasses.replace(c, statement=c.statement + (label and f", {label}"))
        for label, part in parts(ds, AXES)
        for c in _of_map(part)
    ]


def _of_map(ds: xr.Dataset) -> list[Claim]:
    found, d, m = shares(ds), int(ds["d"]), int(ds["m"])
    out = []
    for (n, scale), seen in found.items():
        where = f"n = {n}, λ = {scale:g}"
        if scale >= LARGE and m / 2 < n < m:
            text = f"control, large start: share that interpolates, {where}"
            out.append(estimate_of(text, seen, (0.5, 1), OURS))
        if scale <= SMALL and n >= d**3:
            text = f"share that interpolates beyond d³, {where}"
            out.append(estimate_of(text, seen, (0, 0.5), PAPER))
        if scale <= SMALL and n <= d:
            text = f"share that interpolates at n ≤ d, {where}"
            out.append(estimate_of(text, seen, (0.5, 1), PAPER))
    return [*out, *_of_scale(ds)]


def _of_scale(ds: xr.Dataset) -> list[Claim]:
    """Sizes that a sample is interpolated at, of all: more for large λ."""
    ds = with_axes(ds, AXES).isel(seed=0, drop=True)
    seen = known_limits(ds)["interpolates"]
    small = seen.sel(scale=seen["scale"] <= SMALL)
    least = lambda v: v.fillna(0).mean("n").transpose("draw").values
    most = lambda v: v.fillna(1).mean("n").transpose("draw").values
    text = "sizes interpolated, of all, at the largest λ less the smallest, at least"
    first, last = seen.isel(scale=0), seen.isel(scale=-1)
    grows = mean_of(text, least(last) - most(first), (0.2, 1), OURS)
    text = f"the same at the largest λ ≤ {SMALL:g} less the smallest, unknown as none"
    pair = small.isel(scale=[0, -1] if small.sizes["scale"] else [])
    is_there = small.sizes["scale"] > 1
    apart = least(pair[{"scale": 1}]) - least(pair[{"scale": 0}]) if is_there else []
    stays = mean_of(text, apart, (-0.1, 0.1), PAPER).given(is_there, "two small λ")
    return [grows.given(seen.sizes["scale"] > 1, "two values of λ"), stays]


def _share(seen: xr.DataArray, status: xr.DataArray) -> Estimate:
    """Of one cell; `method` ends with how many draws it has, and is empty if none."""
    values = seen.values[np.isfinite(status.values)]
    if not values.size:
        return Estimate(np.nan, 0.0, 1.0, "")
    won, lost = int((values == 1).sum()), int((values == 0).sum())
    low = wilson(won, values.size).low
    high = wilson(values.size - lost, values.size).high
    middle = (won + values.size - lost) / 2 / values.size
    return Estimate(middle, low, high, f"{_BOTH}, of {values.size}")
