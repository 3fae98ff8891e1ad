"""Which comes first, t → ∞ or λ → 0: the threshold at proven rest, and at a fixed time.

At a fixed time a start of scale λ → 0 has learned nothing: it leaves 0 at about
(1/G) ln(1/λ), G the largest growth rate.  Whether there is an optimisation threshold
n* is therefore a question about t → ∞ first.  Every member is followed until it is
proven where it ends (`Stationary`) or until it interpolates; one of which neither is
known counts both ways, and no verdict is that of a clock.

The prediction: the limits t → ∞ have a limit λ → 0.  From some λ on nearly every member
ends at the same loss whatever λ, and n* is a number of the law of the samples alone,
between d and d³.  From λ = 0.1, the control, members beyond n* end elsewhere: neurons
that alignment has left behind grow in the end and take some of the noise.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348: the threshold for λ below a
bound that does not depend on n and m; that the limit is one of t → ∞ first is ours.
"""

import dataclasses

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import parts
from simbias.claims import estimate_of, share_of
from simbias.core import Claim, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._interpolates import INTERPOLATED
from simbias.experiments.interpolation._rest import known_limits, size_of_half
from simbias.figures import law_level, legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.presets import presets
from simbias.stops import Stationary

# What the figure and the claims read.
AXES = ("n", "scale", "draw")
PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
OURS = "ours, docs/interpolation/order_of_limits.md"
# λ that counts as small; that of the control; a time before small starts leave 0.
SMALL, LARGE, EARLY = 1e-6, 0.1, 5.0
# Train errors over σ² that are the same.
SAME = 0.01
# Draws that had not been run when the claims were written.
FRESH = 3000

experiment = presets(
    Experiment(
        name="order_of_limits",
        make=shared_sample,
        cell={
            "d": 2,
            "n": (3, 6, 16),
            "m": 16,
            "scale": (1e-12, 1e-9, 1e-6, 1e-1),
            "draw": tuple(range(FRESH, FRESH + 12)),
            "n_test": 1,
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(EARLY, 1e5, 20),
        measures={"train_risk": TrainRisk()},
        # As in `interpolating_samples`: below this a member interpolates.
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {"n": (3, 16), "scale": (1e-9, 1e-1), "draw": tuple(range(4))},
        "times": log_times(EARLY, 1e3, 6),
    },
    paper={
        "cell": {
            "d": (2, 3, 5, 10),
            "n": (3, 6, 12, 24, 48, 100, 200),
            "m": (50, 200),
            "scale": (1e-20, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3, 1e-1),
            "draw": tuple(range(FRESH, FRESH + 100)),
        },
        "times": log_times(EARLY, 1e9, 60),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Shares against n at rest and at fixed times; who is at rest; against λ → 0."""
    ds = next(parts(ds, AXES))[1].isel(seed=0, drop=True)
    with style():
        whole = blank(12.5, 4.2)
        rest, clock, ends = whole.subplots(1, 3)
        for i, scale in enumerate(ds["scale"].values):
            part, colour = ds.sel(scale=scale), COLOURS[i % len(COLOURS)]
            _draw_rest(rest, part, colour, f"λ = {scale:g}")
            _draw_clock(clock, part, colour)
            _draw_ends(ends, part, colour)
        for axes in (rest, clock):
            law_level(axes, 0.5)
            axes.set_ylim(-0.03, 1.03)
        legend_below(whole)
    return whole


def _draw_rest(axes: Axes, part: xr.Dataset, colour: str, label: str) -> None:
    """Shares of the members whose limit is known; a band where some are not."""
    seen, n = known_limits(part)["interpolates"], part["n"].values
    low, high = (seen.fillna(v).mean("draw") for v in (0.0, 1.0))
    axes.fill_between(n, low, high, color=colour, alpha=0.2, lw=0)
    axes.plot(n, seen.mean("draw"), "o-", ms=4, lw=1, color=colour, label=label)
    axes.set_xscale("log")
    axes.set_xticks(n, [f"{v:g}" for v in n])
    axes.minorticks_off()
    axes.set_xlabel("samples n")
    axes.set_title("share that interpolates, t → ∞")


def _draw_clock(axes: Axes, part: xr.Dataset, colour: str) -> None:
    """The same, of all sizes, at every time."""
    risk = part["train_risk"] / part["sigma"] ** 2
    share = (risk < INTERPOLATED).mean(["n", "draw"])
    axes.plot(part["time"][1:], share[1:], color=colour, lw=1)
    axes.set_xscale("log")
    axes.set_xlabel("time t")
    axes.set_title("share that interpolates at t, of all n")


def _draw_ends(axes: Axes, part: xr.Dataset, colour: str) -> None:
    """How many are not at rest yet."""
    is_known = known_limits(part)["interpolates"].notnull().values
    ends = np.sort(np.where(is_known, part["end_time"].values, np.inf).ravel())
    left = 1 - np.arange(1, ends.size + 1) / ends.size
    shown = np.isfinite(ends)
    axes.step(ends[shown], left[shown], where="post", color=colour, lw=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("time t")
    axes.set_title("share whose limit is not yet proven")


def claims(ds: xr.Dataset) -> list[Claim]:
    """n*, proof of rest, and limits that a small λ does not change."""
    return [
        dataclasses.replace(c, statement=c.statement + (label and f", {label}"))
        for label, part in parts(ds, AXES)
        for c in _of_run(part.isel(seed=0, drop=True))
    ]


def _of_run(ds: xr.Dataset) -> list[Claim]:
    seen, d = known_limits(ds), int(ds["d"])
    first, sizes = float(ds["scale"][0]), ds["n"].values
    smallest = seen["interpolates"].sel(scale=first)
    limit = seen["loss"].sel(scale=first, drop=True)
    start = f"from λ = {first:g}"
    text = f"interpolated for t → ∞, n = {sizes[0]}, {start}"
    half = f"n* for t → ∞ between d and d³ = {d**3}, {start}"
    out = [
        share_of(text, smallest.isel(n=0), (0.5, 1), PAPER),
        estimate_of(half, size_of_half(smallest), (d, d**3), PAPER),
    ]
    for scale in map(float, ds["scale"].values):
        here = seen.sel(scale=scale)
        if scale <= SMALL:
            text = f"members whose limit is known, λ = {scale:g}"
            is_known = here["interpolates"].notnull()
            out.append(share_of(text, is_known, (0.8, 1), OURS))
        if first < scale:
            out += _same(here["loss"] - limit, start)
    return [c.given(first <= SMALL, f"λ ≤ {SMALL:g}") for c in out]


def _same(apart: xr.DataArray, start: str) -> list[Claim]:
    """The limits of a λ against those of the smallest one, pair by pair."""
    scale, d = float(apart["scale"]), int(apart["d"])
    is_same = (apart**2 < SAME**2).where(apart.notnull()).astype(float)
    text = f"limits within {SAME:g} σ² of those {start}, λ = {scale:g}"
    if scale <= SMALL:
        return [share_of(text, is_same, (0.8, 1), OURS)]
    beyond = is_same.sel(n=is_same["n"] > d**3)
    text = f"control: {text}, n > d³"
    is_meant = scale >= LARGE
    return [share_of(text, beyond, (0, 0.5), OURS)] if is_meant else []
