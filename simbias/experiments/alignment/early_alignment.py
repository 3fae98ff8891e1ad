"""Early alignment: when each neuron reaches its extremal vector, against n, λ and m.

While the network is near zero, a balanced neuron turns by the drive D of the sample
alone: its size cancels.  So the time at which cos(wⱼ, its extremal vector) passes 0.9
or 0.99 depends neither on the initial scale λ nor on the width m, and on n only through
D, which tends to Σβ*/2 for every w.  For n → ∞ a neuron at an angle ψ₀ is aligned at

    t = (1/|D|) ln(tan(ψ₀/2)/tan(ψ/2)),   |D| = ½      (Σ = I, ‖β*‖ = 1)

What λ sets is the exit, when the loss moves: (1/G) ln(1/λ), G the largest growth rate.
So the share of neurons aligned before it grows as λ falls; what is missing is of the
order λ^(d−1), the cap of directions opposite to the drive.

The extremal vector of a neuron is where the same start with λ = 1e-60 has taken it at
the end.  Samples and directions of a draw are the same for every n, λ and m.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791 (early alignment) and
arXiv:2410.02348 (its dependence on n, discussion on OpenReview); constants derived.
"""

import itertools

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.core import Claim, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments.alignment._alignment import (
    COSINES,
    GRID,
    REFERENCE,
    aligned_before_exit,
    alignment,
)
from simbias.experiments.alignment._early_alignment_claims import (
    PAPER,
    RATE,
    REPLY,
    against_law,
    against_scale,
    ratio,
)
from simbias.figures import LAW, law_level, law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import NeuronWeights, TrainRisk
from simbias.presets import presets
from simbias.theory.alignment_law import aligned_share, alignment_time

# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 80.0

# What the figure and the claims read.
AXES = GRID
_TIMES = (*np.arange(0, 20, 0.5).tolist(), *np.arange(20, 61, 2.0).tolist(), 80.0)
experiment = presets(
    Experiment(
        name="early_alignment",
        make=shared_sample,
        cell={
            "n": (30, 100, 400),
            "d": (2, 5),
            "m": (30, 120),
            "scale": (1e-2, 1e-3, 1e-4, 1e-8, REFERENCE),
            "draw": tuple(range(6)),
            "n_test": 1,
        },
        seeds=1,
        least_rows=400,
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=_TIMES,
        measures={"train_risk": TrainRisk(), "neuron_weights": NeuronWeights()},
    ),
    smoke={
        "cell": {
            "n": 200,
            "d": 2,
            "m": 30,
            "scale": (1e-3, 1e-6, REFERENCE),
            "draw": (0, 1, 2),
        },
        "least_rows": 0,
    },
    paper={
        "cell": {
            "n": (40, 200, 1000, 5000),
            # With these every neuron at every time is 8.6 GB.
            "d": (2, 5, 10),
            "m": (100, 400),
            "scale": (1e-2, 1e-3, 1e-4, 1e-8, 1e-16, REFERENCE),
            "draw": tuple(range(30)),
        },
        "least_rows": 0,
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Times of alignment by n; medians and exits by λ; what is missing at the exit."""
    found = alignment(ds)
    with style():
        whole = blank(15.0, 4.2)
        when, against, missing = whole.subplots(1, 3)
        _distribution(when, found.isel(scale=0, d=0, m=-1))
        _medians(against, found.isel(n=-1, d=0))
        _missing(missing, found.isel(n=-1, m=-1))
    return whole


def _distribution(axes: Axes, part: xr.Dataset) -> None:
    grid = np.linspace(0, 20, 201)
    for i, n in enumerate(part["n"].values):
        seen = part["time"].sel(n=n)
        for cosine, line in zip(COSINES, ("-", "--"), strict=True):
            times = np.sort(seen.sel(cosine=cosine).values.ravel())
            count = np.isfinite(times).sum()
            share = np.searchsorted(times[:count], grid, side="right") / max(count, 1)
            label = f"n = {n}" if line == "-" else None
            axes.plot(grid, share, line, lw=1, color=COLOURS[i], label=label)
    for cosine, line in zip(COSINES, ("-", "--"), strict=True):
        law = aligned_share(grid, cosine, RATE, int(part["d"]))
        axes.plot(grid, law, line, color="black", lw=1.5, zorder=0, alpha=0.5)
    axes.set_xlabel("time")
    axes.set_title(
        f"share of neurons aligned, d = {int(part['d'])}, m = {int(part['m'])}"
    )
    axes.plot([], [], "k-", lw=1, label=f"cos > {COSINES[0]}")
    axes.plot([], [], "k--", lw=1, label=f"cos > {COSINES[1]}")
    axes.plot([], [], "-", color="black", lw=1.5, alpha=0.5, label="law, n → ∞")
    axes.legend()


def _medians(axes: Axes, part: xr.Dataset) -> None:
    small = part.sel(scale=part["scale"] > REFERENCE)
    scale, start = small["scale"].values, np.array([np.pi / 2])
    for i, m in enumerate(small["m"].values):
        at = small.sel(m=m)
        colour, mark = COLOURS[i % len(COLOURS)], "os^D"[i % 4]
        axes.plot(
            scale,
            at["exit"].median("draw"),
            f"{mark}-",
            ms=5,
            color=colour,
            label=f"loss moves by 1 %, m = {m}",
        )
        for cosine in COSINES:
            middle = at["time"].sel(cosine=cosine).median(["draw", "neuron"])
            axes.plot(
                scale,
                middle,
                f"{mark}--",
                ms=5,
                fillstyle="none",
                color=colour,
                label=f"median neuron, cos > {cosine}, m = {m}",
            )
    for cosine in COSINES:
        law = float(alignment_time(start, cosine, RATE)[0])
        law_level(axes, law)
    axes.set_xscale("log")
    axes.set_xlabel("initial scale λ")
    axes.set_title(f"times, n = {int(part['n'])}, d = {int(part['d'])}; dotted: law")
    axes.legend()


def _missing(axes: Axes, part: xr.Dataset) -> None:
    small = part.sel(scale=part["scale"] > REFERENCE)
    scale, is_late = small["scale"].values, 1 - aligned_before_exit(small)
    # One in so many neurons is the least share above 0 that can be seen.
    count = int(is_late.notnull().sum(["neuron", "draw"]).max())
    for i, d in enumerate(small["d"].values):
        colour = COLOURS[i % len(COLOURS)]
        late = is_late.sel(d=d).mean(["neuron", "draw"]).values
        exit_time = small["exit"].sel(d=d).median("draw").values
        law = 1 - aligned_share(exit_time, max(COSINES), RATE, int(d))
        axes.plot(scale, np.where(late > 0, late, np.nan), "o", color=colour, ms=5)
        none = np.where(late == 0, 1 / count, np.nan)
        # Those of several d lie side by side.
        shift = 1.25**i
        axes.plot(scale * shift, none, "v", color=colour, ms=6, fillstyle="none")
        law_line(axes, scale, law, f"law, d = {d}", line="-", colour=colour)
    law_level(axes, 1 / count, f"1 of {count} neurons")
    axes.plot([], [], "o", color=LAW, ms=5, label="share that was seen")
    axes.plot([], [], "v", color=LAW, ms=6, fillstyle="none", label="no neuron: below")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1 / (5 * count), 1.5)
    axes.set_xlim(float(scale.min()) / 2, 2 * float(scale.max()))
    axes.set_xlabel("initial scale λ")
    axes.set_title("share not aligned (0.99) at the exit")
    axes.legend()


def claims(ds: xr.Dataset) -> list[Claim]:
    """No λ, no m and little n in the time of alignment; ln(1/λ) in that of the exit."""
    found = alignment(ds)
    small = found["scale"].values[found["scale"].values > REFERENCE]
    out = []
    for d, m in itertools.product(found["d"].values, found["m"].values):
        where = f"d = {d}, m = {m}, n = {found['n'].values[-1]}"
        last = found.sel(d=d, m=m).isel(n=-1)
        out += against_law(last, where)
        out += against_scale(last, small, where)
    strict = found["time"].sel(cosine=max(COSINES)).isel(scale=0)
    text = "median time to cos 0.99, largest m over smallest, farthest from 1"
    ends = strict.isel(m=[-1, 0]).stack(part=["n", "d"])
    out.append(
        Claim(text, ratio(ends, "m"), 0.9, 1.1, PAPER).given(
            found.sizes["m"] > 1, "two values of m"
        )
    )
    text = "median time to cos 0.99, largest n over the one before, farthest from 1"
    ends = strict.isel(n=[-1, -2 % found.sizes["n"]]).stack(part=["d", "m"])
    out.append(
        Claim(text, ratio(ends, "n"), 0.85, 1.15, REPLY).given(
            found.sizes["n"] > 1, "two values of n"
        )
    )
    return out
