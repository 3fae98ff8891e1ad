"""Stragglers: neurons that have not turned when the loss moves, m λ^{d−1} of them.

Beyond n* the neurons of each sign gather on one side of the teacher.  One that starts
close to where the other sign gathers is pulled away from there, slowly at first, and
the pull ends when that side is fitted.  Who has not turned by then stays, with next to
no mass, and is what grows late where noise is left to fit.  In the limit of n and m

    E = m P(tan(ψ/2) < λ √((d + 1)/8)) ≈ C_d m λ^{d−1}

of the angle ψ of a uniform direction in ℝᵈ, and nothing is fitted to it
(`theory.straggler_share`).  So there are none for m λ^{d−1} ≪ 1, however many neurons
there are, and in low dimension λ has to be far smaller than one thinks.

Controls: a start with |aⱼ| ≥ ‖wⱼ‖, which turns sooner and leaves next to none; and the
number at the time at which the loss has not moved, which is far larger.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, for the two groups; the law
is ours, derived in docs/interpolation/stragglers.md.
"""

import itertools

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.parts import with_axes
from simbias.claims import exact, mean, within
from simbias.core import Claim, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments.interpolation._stragglers import Stragglers
from simbias.figures.laws import law_line
from simbias.figures.legends import legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.presets import presets
from simbias.theory.straggler_share import straggler_share

DERIVED = "derived in docs/interpolation/stragglers.md; band ours"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 40.0
# What the figure and the claims read.
AXES = ("initial", "sigma", "d", "m", "scale", "draw")
# Stragglers of all draws from which their mean is known to 20 %.
COUNTED = 40.0

experiment = presets(
    Experiment(
        name="stragglers",
        make=shared_sample,
        cell={
            "n": 200,
            "d": (2, 3),
            "m": (100, 400),
            "sigma": 0.0,
            "scale": (0.01, 0.03, 0.1, 0.3),
            "initial": ("balanced", "dominated"),
            "draw": tuple(range(12)),
            "n_test": 10,
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=(0.0, 1.0, 40.0),
        measures={"stragglers": Stragglers(), "train_risk": TrainRisk()},
    ),
    smoke={
        "cell": {"n": 100, "d": 2, "m": 400, "scale": 0.1, "draw": tuple(range(6))},
    },
    paper={
        "cell": {
            "n": 1000,
            "d": (2, 3, 5),
            "m": (1000, 10_000),
            "sigma": (0.0, 0.3),
            "scale": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
            "draw": tuple(range(50)),
        },
        "times": (0.0, 1.0, 60.0),
    },
)


def counts(ds: xr.Dataset) -> xr.Dataset:
    """`seen` over (initial, sigma, d, m, scale, time, draw), and its `law`."""
    ds = with_axes(ds, AXES)
    kept = ds["stragglers"].isel(seed=0, drop=True)
    shares = [straggler_share(ds["scale"].values, int(d)) for d in ds["d"].values]
    over = {k: ds[k].values for k in ("d", "scale")}
    law = xr.DataArray(np.array(shares), over, tuple(over)) * ds["m"]
    return xr.Dataset({"seen": kept.transpose(*AXES[:-1], "time", "draw"), "law": law})


def claims(ds: xr.Dataset) -> list[Claim]:
    """The number over its law, its exponents in λ and m, and both controls."""
    found, out = counts(ds), []
    until = float(found["time"][-1])
    for sigma, d in itertools.product(found["sigma"].values, found["d"].values):
        part = found.sel(sigma=sigma, d=d)
        where = f"d = {d:g}, σ = {sigma:g}"
        if "balanced" in part["initial"]:
            out += [*_over_law(part, where), *_exponents(part, where)]
            text = f"control: at t = {float(part['time'][1]):g}, over the law, {where}"
            early = _all_over_law(part.isel(time=1), "balanced")
            out.append(mean(text, early, 1.5, np.inf, DERIVED))
        if "dominated" in part["initial"]:
            text = f"control: of dominated starts, all, over the law, {where}"
            own = _all_over_law(part.isel(time=-1), "dominated").mean()
            out.append(exact(text, own, 0.0, 0.3, DERIVED))
    return [c.given(until >= LEAST_TIME, f"t ≥ {LEAST_TIME:g}") for c in out]


def _all_over_law(part: xr.Dataset, initial: str) -> np.ndarray:
    """Stragglers of all widths and scales together, per draw."""
    total = part["seen"].sel(initial=initial).sum(["m", "scale"], skipna=False)
    return total.values / float(part["law"].sum())


def _over_law(part: xr.Dataset, where: str) -> list[Claim]:
    """At every width and scale with enough of them."""
    last, out = part.isel(time=-1).sel(initial="balanced"), []
    for m, scale in itertools.product(part["m"].values, part["scale"].values):
        one = last.sel(m=m, scale=scale)
        law = float(one["law"])
        if law * part.sizes["draw"] >= COUNTED:
            text = f"stragglers over {law:.3g}, m = {m:g}, λ = {scale:g}, {where}"
            out.append(mean(text, one["seen"].values / law, 0.8, 1.2, DERIVED))
    return out


def _exponents(part: xr.Dataset, where: str) -> list[Claim]:
    """Of the mean number, between the ends of each axis where there are enough."""
    last, out = part.isel(time=-1).sel(initial="balanced"), []
    for axis, other, name in (("scale", "m", "λ"), ("m", "scale", "m")):
        law = last["law"].sum(other)
        kept = (law * part.sizes["draw"] >= COUNTED).values
        if kept.sum() > 1:
            q, expected = part[axis].values[kept][[0, -1]], law.values[kept][[0, -1]]
            each = last["seen"].sum(other, skipna=False).transpose("draw", axis)
            ends = each.values[:, kept][:, [0, -1]]
            span = float(np.log(q[1] / q[0]))
            p = float(np.log(expected[1] / expected[0])) / span
            seen = jackknife_interval(
                lambda v, span=span: (
                    float(np.log(v[:, 1].sum() / v[:, 0].sum())) / span
                ),
                ends,
            )
            text = (
                f"exponent of {name}, {q[0]:g} to {q[1]:g}, by the law {p:.3g}, {where}"
            )
            out.append(within(text, seen, p - 0.15, p + 0.15, DERIVED))
    return out


def figure(ds: xr.Dataset) -> Figure:
    """Mean number per draw against m times the share of the law; the same against λ."""
    found = counts(ds)
    each = [*itertools.product(found["sigma"].values, found["d"].values)]
    draws = found.sizes["draw"]
    with style():
        whole = blank(4.6 * len(each), 4.2)
        panels = whole.subplots(1, len(each), squeeze=False)[0]
        for axes, (sigma, d) in zip(panels, each, strict=True):
            part = found.sel(sigma=sigma, d=d).isel(time=-1)
            grid = np.geomspace(*part["scale"].values[[0, -1]], 50)
            for i, m in enumerate(part["m"].values):
                colour = COLOURS[i % len(COLOURS)]
                law_line(axes, grid, m * straggler_share(grid, int(d)), colour=colour)
                for initial, mark in zip(part["initial"].values, "os", strict=False):
                    total = part["seen"].sel(m=m, initial=initial).sum("draw").values
                    reach = np.where(total > 0, np.sqrt(total), 0) / draws
                    there = total > 0
                    axes.errorbar(
                        part["scale"].values[there],
                        total[there] / draws,
                        reach[there],
                        fmt=mark,
                        ms=5,
                        color=colour,
                        fillstyle="full" if mark == "o" else "none",
                        label=f"m = {m:g}, {initial}",
                    )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(
                part["scale"].values, [f"{v:g}" for v in part["scale"].values]
            )
            axes.minorticks_off()
            axes.set_xlabel("initial scale λ")
            axes.set_title(f"stragglers per network, d = {d:g}, σ = {sigma:g}")
        legend_below(whole, *panels)
        whole.suptitle(
            f"t = {float(found['time'][-1]):g}; dashed: law, nothing fitted; "
            "none seen: not shown",
            fontsize="medium",
        )
    return whole
