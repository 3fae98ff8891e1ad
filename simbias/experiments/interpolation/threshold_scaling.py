"""Scaling of the threshold: with dimension, width, initial scale and noise.

The members of `threshold`, but the sample of a seed is the same along every axis, so
that ratios of thresholds are known better than thresholds.  Two definitions of n*, both
where a median over seeds rises to a level, linear in ln n between sizes:

    0.01 σ²   the train error of the median network: it no longer interpolates
    σ²/2      half of the noise is left: the middle of the passage

Every axis with at least two values (d, m, scale, sigma) is looked at: n* at its ends,
and from three values on the exponent p of n* ∝ qᵖ.  What is said of d is said where
members end alike from λ = 1e-12 and from 1e-100, for which neurons align eight times
as long: there n* belongs to the flow, and not to the start.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348: n* grows with d (figures for
d = 5 and 10; the theorem asks for more than d³), and depends neither on m nor on λ once
λ is below a bound that does not depend on n and m.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from simbias.analysis.median_crossing import median_crossing
from simbias.analysis.parts import with_axes
from simbias.claims import Band, Claims, estimate_of, share_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._exponents import (
    AGAINST,
    LEVELS,
    Exponent,
    exponents,
    points,
)
from simbias.figures import law_level, legend_below
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import ExcessRisk, TestRisk, TrainRisk
from simbias.results import is_finished
from simbias.stops import Stationary

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 300.0
AXES = (*AGAINST, "n")
# By how much of the axis the second level is drawn to the right of the first.
_BESIDE = 0.03
# A ratio of thresholds this far from 1 counts as no change.
UNCHANGED = 1.25
# Share of the members that end alike from two starts that both are small.
ALIKE, SMALL = 0.9, 1e-6
_NEEDS = f"λ ≤ {SMALL:g}"

experiment = presets(
    Experiment(
        name="threshold_scaling",
        make=noisy_teacher,
        cell={
            "d": (5, 10),
            "n": (8, 16, 27, 40, 60, 90, 140),
            "m": 100,
            "scale": (1e-12, 1e-100),
        },
        seeds=8,
        shared=SHARED,
        pad_to=140,
        # As in `interpolating_samples`: at 1e-4 some members end otherwise.
        flow=ReluFlow(rtol=1e-6),
        loss=half_mse,
        times=log_times(10.0, 10_000.0, 16),
        measures={
            "train_risk": TrainRisk(),
            "test_risk": TestRisk(),
            "excess_risk": ExcessRisk(),
        },
        # As in `interpolating_samples`: below this a member interpolates.
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {
            "d": 5,
            "scale": (1e-3, 1e-4),
            "n": (4, 40),
            "m": 30,
            "n_test": 200,
        },
        "seeds": 3,
        "pad_to": 40,
        "times": log_times(1.0, 300.0, 8),
        # Compiles in a fraction of the time.
        "flow": Descent(rate=0.1),
        "stop": None,
    },
    paper={
        "cell": {
            "d": (5, 10, 20, 40),
            "n": (10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120),
            "m": (2500, 10_000),
            "n_test": 10_000,
        },
        "seeds": 100,
        "pad_to": 0,
        "times": log_times(1.0, 10_000.0, 30),
    },
)


def final_errors(ds: xr.Dataset) -> xr.Dataset:
    """Train and test error at the end over σ², NaN where failed."""
    ds = with_axes(ds, AXES)
    single = [k for k in AGAINST if ds.sizes[k] == 1]
    ds = ds.isel(time=-1, drop=True).squeeze(single)
    kept = ds[["train_risk", "test_risk"]].where(is_finished(ds)) / ds["sigma"] ** 2
    return kept.assign_attrs(ds.attrs)


def figure(ds: xr.Dataset) -> Figure:
    """Train and test error over σ² against n, and n* against every axis."""
    errors = final_errors(ds)
    axes = [k for k in AGAINST if errors.sizes.get(k, 1) > 1]
    parts, sizes = _points_of(errors), errors["n"].values
    with style():
        whole = blank(4.3 * (2 + len(axes)), 3.8)
        train, test, *laws = whole.subplots(1, 2 + len(axes))
        for i, (label, part) in enumerate(parts):
            n, colour = part["n"].values, COLOURS[i % len(COLOURS)]
            for panel, name in ((train, "train_risk"), (test, "test_risk")):
                shown = label or None
                kind = {"colour": colour, "label": shown, "alpha": 0.12, "ms": 3}
                band(panel, n, part[name], "o-", **kind)
        for panel, name in ((train, "train"), (test, "test")):
            panel.set_xscale("log")
            panel.set_xticks(sizes, [f"{v:g}" for v in sizes])
            panel.xaxis.set_minor_locator(NullLocator())
            panel.set_xlabel("samples n")
            panel.set_title(f"{name} error over σ²; band: 10–90 % of seeds")
            law_level(panel, 1)
        test.set_yscale("log")
        for panel, axis in zip(laws, axes, strict=True):
            _thresholds(panel, errors, axis, COLOURS[len(parts) :] or COLOURS)
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.27)}
            several = len(panel.get_legend_handles_labels()[1]) > len(LEVELS)
            panel.legend(**below, ncols=1 + several)
        legend_below(whole, train, test)
        time = float(ds["time"][-1])
        whole.suptitle(f"at t = {time:g}", fontsize="medium")
    return whole


def _points_of(errors: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    others = [k for k in AGAINST if k in errors.dims]
    train = points(errors["train_risk"], others)
    test = points(errors["test_risk"], others)
    return [
        (label, xr.Dataset({"train_risk": a, "test_risk": b}).sortby("n"))
        for (label, a), (_, b) in zip(train, test, strict=True)
    ]


def _thresholds(
    panel: Axes, errors: xr.Dataset, axis: str, colours: tuple[str, ...] = COLOURS
) -> None:
    """n* with its interval against one axis, one line per level and other point."""
    others = [k for k in AGAINST if k in errors.dims and k != axis]
    q = np.sort(errors[axis].values.astype(float))
    fits, sizes = exponents(errors), errors["n"].values[[0, -1]]
    notes = set()
    for i, (label, part) in enumerate(points(errors["train_risk"], others)):
        for j, (level, mark) in enumerate(zip(LEVELS, ("o", "s"), strict=True)):
            kind: dict[str, Any] = {
                "color": colours[i % len(colours)],
                "fillstyle": "full" if level < 0.1 else "none",
            }
            # Beside each other, not on top.
            beside = q * (q[-1] / q[0]) ** (_BESIDE * (len(LEVELS) * i + j))
            found = [median_crossing(part.sel({axis: v}), level) for v in q]
            n = np.array([f.value for f in found])
            # An end beyond the grid is drawn at the end of the grid.
            ends = np.clip([[f.low, f.high] for f in found], *sizes)
            reach = np.abs(ends.T - n)
            open_ended = lambda f: not f.is_bracketed
            beyond = [f.high == np.inf and open_ended(f) for f in found]
            below = [0 == f.low < f.high < np.inf and open_ended(f) for f in found]
            panel.plot(beside, np.where(beyond, ends[:, 0], np.nan), "^", ms=6, **kind)
            panel.plot(beside, np.where(below, ends[:, 1], np.nan), "v", ms=6, **kind)
            notes |= {"; ▲ at least"} if any(beyond) else set()
            notes |= {"; ▼ at most"} if any(below) else set()
            p = fits[axis, level, label]
            text = f"n* at {LEVELS[level]}"
            seen = p.estimate
            is_law = len(p.over) > 2  # of two points there is always one
            if is_law and np.isfinite([seen.value, seen.low, seen.high]).all():
                text += f": p = {seen.value:.2f} [{seen.low:.2f}, {seen.high:.2f}]"
            panel.errorbar(
                beside,
                n,
                np.where(np.isfinite(reach), reach, 0),
                fmt=f"{mark}-",
                ms=4,
                lw=1,
                **kind,
                label=f"{label}, {text}" if label else text,
            )
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_ylim(0.9 * sizes[0], 1.1 * sizes[1])
    panel.set_xticks(q, [f"{v:g}" for v in q])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel({"scale": "initial scale λ", "sigma": "noise σ"}.get(axis, axis))
    panel.set_title(f"n* against {AGAINST[axis]}{''.join(sorted(notes))}")


def claims(ds: xr.Dataset) -> list[Claim]:
    """Interpolation below n*; what a smaller λ leaves as it is; n* with d, m and λ."""
    errors = final_errors(ds)
    when = f"t = {float(ds['time'][-1]):g}"
    first = (errors["train_risk"].isel(n=0) < min(LEVELS)).transpose(..., "seed").values
    rows = first.reshape(-1, first.shape[-1])
    least = rows[np.argmin(rows.mean(axis=1))]
    text = f"interpolate at n = {errors['n'].values[0]}, least share, {when}"
    out = [share_of(text, least, (0.9, 1.0), PAPER), *_alike(errors, when)]
    for (axis, level, label), p in exponents(errors).items():
        where = f"n* at {LEVELS[level]}{', ' + label if label else ''}, {when}"
        needs = {"n* on the grid for two values": len(p.over) > 1}
        if axis == "scale":
            needs[_NEEDS] = max(p.over, default=0) <= SMALL
        if axis in _CLAIMED:
            # Where n* is on the grid; without two of them the row says what was asked.
            over = p.over if len(p.over) > 1 else np.sort(errors[axis].values)
            ends = float(over[0]), float(over[-1])
            out += Claims(needs=needs).rows(_CLAIMED[axis](axis, p, ends, where))
    return out


def _alike(errors: xr.Dataset, when: str) -> list[Claim]:
    """By point of the other axes, members that end alike from both ends of λ."""
    if "scale" not in errors.dims:
        return []
    others = [k for k in AGAINST if k in errors.dims and k != "scale"]
    low, high = errors["scale"].values.min(), errors["scale"].values.max()
    out = []
    for label, part in points(errors["train_risk"], others):
        ends = [part.sel(scale=v, drop=True) for v in (low, high)]
        one, other = (end.where(end.isnull(), end < min(LEVELS)) for end in ends)
        is_alike = (one == other).where(one.notnull() & other.notnull())
        text = f"members that end alike from λ = {high:g} and {low:g}"
        text = f"{text}{', ' + label if label else ''}, {when}"
        out.append(share_of(text, is_alike, (ALIKE, 1.0), f"{PAPER}; band ours"))
    return Claims(needs={_NEEDS: high <= SMALL}).rows(*out)


Ends = tuple[float, float]


def _grows(axis: str, p: Exponent, ends: Ends, where: str) -> Claim:
    source = f"{PAPER}: grows (figures), no faster than d³ (theorem 2)"
    return _ratio(axis, p, ends, where, lambda wide: (1, wide**3), source)


def _unchanged(axis: str, p: Exponent, ends: Ends, where: str) -> Claim:
    source = f"{PAPER}; band ours: within ×{UNCHANGED:g}"
    return _ratio(axis, p, ends, where, lambda _: (1 / UNCHANGED, UNCHANGED), source)


def _ratio(
    axis: str,
    p: Exponent,
    ends: Ends,
    where: str,
    band: Callable[[float], Band],
    source: str,
) -> Claim:
    """n* at the largest q over that at the smallest, by the power law."""
    low_q, high_q = ends
    wide, seen = high_q / low_q, p.estimate
    ratio, low, high = (float(wide**v) for v in (seen.value, seen.low, seen.high))
    found = dataclasses.replace(seen, value=ratio, low=low, high=high)
    text = f"n* at {AGAINST[axis]} = {high_q:g} over {low_q:g}, {where}"
    return estimate_of(text, found, band(wide), source)


_CLAIMED = {"d": _grows, "m": _unchanged, "scale": _unchanged}
