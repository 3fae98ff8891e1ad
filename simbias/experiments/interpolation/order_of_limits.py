"""Does n* exist: the order of t → ∞ and λ → 0.

A small start is slow, and what is read at a time t depends on λ through the wait at 0
and at later saddles.  Each is left after a time ∝ ln(1/λ), so that a member should do
the same at the same t/ln(1/λ), whatever λ is, once λ is small.  Then the limits can
be taken in either order, λ → 0 first at a fixed t/ln(1/λ), and n* is that of members
whose end is proven (`stops.Stationary`) and depends on no clock.

Draws and starts are the same at λ, λ² and λ⁴, and records such that 2t and 4t are among
them for every t.

Control: at the same t, not t/ln(1/λ), members of different λ are not at the same place.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348: n* for λ below some bound, at
t → ∞; the order of limits is ours, docs/interpolation/order_of_limits.md.
"""

import itertools

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.analysis.share_difference import share_difference
from simbias.analysis.wilson import wilson
from simbias.claims import median, share, within
from simbias.core import AT_REST, Claim, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments.interpolation._interpolates import INTERPOLATED
from simbias.figures.legends import legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.presets import presets
from simbias.results import is_finished
from simbias.stops.stationary import Stationary

OURS = "ours, docs/interpolation/order_of_limits.md"
# What the claims are about, in units of ln(1/λ): the end of the smallest λ at least.
LEAST_TIME = 100.0
# What the figure and the claims read.
AXES = ("sigma", "d", "n", "scale", "draw")
LARGEST = 1e-5


def _times(last: int, per_octave: int) -> tuple[float, ...]:
    """0, then ln(1/λ) 2^{j/`per_octave`} of the largest λ."""
    steps = np.arange(last * per_octave + 1) / per_octave
    return (0.0, *(float(t) for t in -np.log(LARGEST) * 2.0**steps))


experiment = presets(
    Experiment(
        name="order_of_limits",
        make=shared_sample,
        cell={
            "d": 10,
            "n": (20, 180),
            "m": 100,
            "scale": (1e-20, 1e-10, LARGEST),
            "draw": tuple(range(2000, 2016)),
            "n_test": 10,
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=_times(10, 3),
        measures={"train_risk": TrainRisk()},
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {"d": 5, "n": (6, 40), "m": 30, "scale": (1e-10, LARGEST)}
        | {"draw": (0, 1, 2), "rows": 40},
        "times": _times(4, 1),
    },
    paper={
        "cell": {
            "d": (5, 10, 20),
            "n": (10, 20, 40, 80, 160, 320, 640, 1280),
            "m": 1000,
            "draw": tuple(range(2000, 2100)),
        },
        "times": _times(13, 4),
    },
)


def verdicts(ds: xr.Dataset) -> xr.Dataset:
    """Over (sigma, d, n, scale, draw), and `interpolates` over time as well.

    `is_proven`: at rest, or interpolated, which it stays since the loss falls; 1, 0 or
    NaN.  `reached`: t/ln(1/λ) of the first record below 0.01 σ², infinite if none is.
    """
    ds = with_axes(ds, AXES).isel(seed=0, drop=True)
    risk = ds["train_risk"].where(is_finished(ds)).transpose(*AXES, "time")
    below = (risk < INTERPOLATED * ds["sigma"] ** 2).transpose(*AXES, "time")
    is_there = risk.notnull().all("time")
    is_at_rest = ds["status"].isin([int(s) for s in AT_REST])
    proven = (is_at_rest | below.isel(time=-1)).transpose(*AXES)
    first = below["time"].where(below).min("time").fillna(np.inf)
    return xr.Dataset(
        {
            "interpolates": below.astype(float).where(is_there),
            "is_proven": proven.astype(float).where(is_there),
            "reached": (first / -np.log(ds["scale"])).where(is_there),
        }
    )


def claims(ds: xr.Dataset) -> list[Claim]:
    """Proven, the same fate at λ and λ², in the same t/ln(1/λ), and an n*."""
    seen, out = verdicts(ds), []
    longest = float(ds["time"][-1]) / -np.log(float(seen["scale"].min()))
    ends = seen.isel(time=-1)
    for sigma, d in itertools.product(seen["sigma"].values, seen["d"].values):
        at, where = {"sigma": sigma, "d": d}, f"d = {d:g}, σ = {sigma:g}"
        for scale in seen["scale"].values:
            proven = ends.sel(**at, scale=scale)["is_proven"].values
            text = f"ends that are proven, every n, λ = {scale:g}, {where}"
            out.append(share(text, proven, 0.75, 1.0, OURS))
        for n in seen["n"].values:
            out += _pairs(ends.sel(**at, n=n), f"n = {n:g}, {where}")
        out.append(_falls(ends.sel(**at), where))
    need = f"t/ln(1/λ) ≥ {LEAST_TIME:g}"
    return [c.given(longest >= LEAST_TIME, need) for c in out]


def _pairs(part: xr.Dataset, where: str) -> list[Claim]:
    """Each λ against the next smaller one, draw by draw."""
    out = []
    for i in range(part.sizes["scale"] - 1):
        small, large = part.isel(scale=i), part.isel(scale=i + 1)
        low, high = float(small["scale"]), float(large["scale"])
        both = small["is_proven"].values * large["is_proven"].values == 1
        equal = (small["interpolates"] == large["interpolates"]).values[both]
        text = f"same end at λ = {low:g} and {high:g}, of those proven, {where}"
        out.append(share(text, equal, 0.75, 1.0, OURS).given(both.any(), "ends"))
        times = [np.asarray(v["reached"].values) for v in (small, large)]
        came = np.isfinite(times[0]) & np.isfinite(times[1])
        ratio = times[0][came] / times[1][came]
        text = f"t/ln(1/λ) of interpolation, λ = {low:g} over {high:g}, {where}"
        each = [median(text, ratio, 0.8, 1.25, OURS)]
        text = f"control: t, λ = {low:g} over {high:g}, {where}"
        factor = np.log(low) / np.log(high)
        each.append(median(text, ratio * factor, 1.25, np.inf, OURS))
        enough = int(came.sum()) >= 6
        out += [c.given(enough, "six draws interpolated at both") for c in each]
    return out


def _falls(part: xr.Dataset, where: str) -> Claim:
    """From the smallest n to the largest, at the smallest λ."""
    last = part.isel(scale=0)
    few, many = (last.isel(n=i)["interpolates"].values for i in (0, -1))
    low, high = int(last["n"][0]), int(last["n"][-1])
    text = (
        f"interpolated at n = {low} less at n = {high}, "
        f"λ = {float(last['scale']):g}, {where}"
    )
    seen = share_difference(few, many)
    return within(text, seen, 0.25, 1.0, OURS).given(low < high, "two sizes")


def figure(ds: xr.Dataset) -> Figure:
    """Shares against t/ln(1/λ) and against t, for every size; what is proven."""
    seen = verdicts(ds)
    each = list(
        itertools.product(*(seen[k].values.tolist() for k in ("sigma", "d", "n")))
    )
    with style():
        whole = blank(9.0, 3.3 * len(each))
        panels = whole.subplots(len(each), 2, squeeze=False, sharey=True)
        for row, (sigma, d, n) in zip(panels, each, strict=True):
            part = seen.sel(sigma=sigma, d=d, n=n)
            _draw(row[0], part, is_scaled=True)
            _draw(row[1], part, is_scaled=False)
            row[0].set_title(f"share interpolated, d = {d:g}, σ = {sigma:g}, n = {n:g}")
            row[1].set_title("the same against t")
        panels[-1, 0].set_xlabel("t / ln(1/λ)")
        panels[-1, 1].set_xlabel("flow time t")
        legend_below(whole, panels[0, 0], columns=3)
    return whole


def _draw(axes: Axes, part: xr.Dataset, *, is_scaled: bool) -> None:
    for i, scale in enumerate(part["scale"].values):
        one = part.sel(scale=scale)
        is_there = one["interpolates"].notnull().all("time").values
        rows = one["interpolates"].transpose("draw", "time").values[is_there]
        if not len(rows):
            continue
        unit = -np.log(scale) if is_scaled else 1.0
        along, colour = part["time"].values[1:] / unit, COLOURS[i % len(COLOURS)]
        middle = rows.mean(axis=0)[1:]
        proven = int(one["is_proven"].sum())
        label = f"λ = {scale:g}"
        axes.step(along, middle, where="post", color=colour, label=label)
        end = wilson(int(rows[:, -1].sum()), len(rows))
        reach = [[end.value - end.low], [end.high - end.value]]
        axes.errorbar(along[-1], middle[-1], reach, fmt="o", color=colour, capsize=2)
        text = f" {proven}/{len(rows)} proven"
        if is_scaled:
            axes.annotate(text, (along[-1], middle[-1]), fontsize="x-small", ha="left")
    axes.set_xscale("log")
    axes.set_ylim(-0.05, 1.05)
