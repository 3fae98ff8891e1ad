"""Early alignment: when each neuron reaches its extremal vector, against n, λ and m.

While the network is near zero, only the drive D of the dataset turns a balanced neuron;
its size cancels.  So the time at which cos(wⱼ, its extremal vector) passes 0.9 or 0.99
depends neither on the initialisation scale λ nor on the width m.  It depends on n only
through D, which tends to Σβ*/2 for every w.  For n → ∞ a neuron at an angle ψ₀ is
aligned at

    t = (1/|D|) ln(tan(ψ₀/2)/tan(ψ/2)),   |D| = ½      (Σ = I, ‖β*‖ = 1)

λ determines the exit, the time at which the loss begins to fall: (1/G) ln(1/λ), with G
the largest growth rate.  So the share of neurons aligned at the exit grows as λ falls.
The share not aligned is of the order λ^(d−1), the cap of directions opposite to the
drive.

The extremal vector of a neuron is its final direction from the same initialisation with
λ = 1e-60.  The datasets and initial directions of a seed are the same for every n, λ
and m.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791 (early alignment) and
arXiv:2410.02348 (its dependence on n, discussion on OpenReview); constants derived.
"""

import itertools

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.claims import Claims
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
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
from simbias.figures import (
    LAW,
    Curves,
    Drawing,
    Law,
    Panels,
    colour_of,
    law_level,
    law_line,
)
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import NeuronWeights, TrainRisk
from simbias.theory.alignment_law import aligned_share, alignment_time

LEAST_TIME = 80.0
AXES = GRID
_TIMES = (*np.arange(0, 20, 0.5).tolist(), *np.arange(20, 61, 2.0).tolist(), 80.0)

experiment = presets(
    Experiment(
        name="early_alignment",
        make=noisy_teacher,
        cell={
            "n": (30, 100, 400),
            "d": (2, 5),
            "m": (30, 120),
            "scale": (1e-2, 1e-3, 1e-4, 1e-8, REFERENCE),
            "n_test": 1,
        },
        seeds=6,
        shared=SHARED,
        pad_to=400,
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=_TIMES,
        measures={"train_risk": TrainRisk(), "neuron_weights": NeuronWeights()},
    ),
    smoke={
        "cell": {"n": 200, "d": 2, "m": 30, "scale": (1e-3, 1e-6, REFERENCE)},
        "seeds": 3,
        "pad_to": 0,
    },
    paper={
        "cell": {
            "n": (40, 200, 1000, 5000),
            # With these every neuron at every time is 8.6 GB.
            "d": (2, 5, 10),
            "m": (100, 400),
            "scale": (1e-2, 1e-3, 1e-4, 1e-8, 1e-16, REFERENCE),
        },
        "seeds": 30,
        "pad_to": 0,
    },
)


_CLOCK = xr.DataArray(np.linspace(0, 20, 201), dims="clock")


def _aligned(part: xr.Dataset) -> xr.DataArray:
    """Share of the neurons aligned at each time, among those that ever align."""
    times = part["time"]
    count = times.notnull().sum(["seed", "neuron"])
    return (times <= _CLOCK).sum(["seed", "neuron"]) / count.where(count > 0)


def _law_of_share(cosine: float, label: str | None, line: str) -> Law:
    of = lambda part: aligned_share(_CLOCK.values, cosine, RATE, int(part["d"]))
    curve = lambda part: xr.DataArray(of(part), {"clock": _CLOCK.values}, ("clock",))
    return Law(curve, label, line=line)


def _small(ds: xr.Dataset) -> xr.Dataset:
    """The result without the reference."""
    return ds.sel(scale=ds["scale"] > REFERENCE)


def _medians(part: xr.Dataset) -> xr.DataArray:
    """Exit times, and times at which the median neuron is aligned."""
    left = part["exit"].median("seed").expand_dims(what=["loss moves by 1 %"])
    turned = part["time"].median(["seed", "neuron"]).rename(cosine="what")
    names = [f"median neuron, cos > {c}" for c in COSINES]
    return xr.concat([left, turned.assign_coords(what=names)], "what")


def _draw_missing(axes: Axes, part: xr.Dataset) -> None:
    """Shares not aligned; 1/m where every neuron is aligned."""
    is_late = 1 - aligned_before_exit(part)
    scale = part["scale"].values
    # One in so many neurons is the least share above 0 that can be seen.
    count = int(is_late.notnull().sum(["neuron", "seed"]).max())
    for i, d in enumerate(part["d"].values):
        late = is_late.sel(d=d).mean(["neuron", "seed"]).values
        left = part["exit"].sel(d=d).median("seed").values
        law = 1 - aligned_share(left, max(COSINES), RATE, int(d))
        look = {"color": colour_of(i), "ms": 5}
        axes.plot(scale, np.where(late > 0, late, np.nan), "o", **look)
        none = np.where(late == 0, 1 / count, np.nan)
        # Those of several d lie side by side.
        axes.plot(scale * 1.25**i, none, "v", fillstyle="none", **look)
        law_line(axes, scale, law, f"law, d = {d}", line="-", colour=colour_of(i))
    law_level(axes, 1 / count, f"1 of {count} neurons")
    axes.plot([], [], "o", color=LAW, ms=5, label="share that was seen")
    axes.plot([], [], "v", color=LAW, ms=6, fillstyle="none", label="no neuron: below")
    axes.set_ylim(1 / (5 * count), 1.5)
    axes.set_xlim(float(scale.min()) / 2, 2 * float(scale.max()))


figure = Panels(
    Curves(
        _aligned,
        of=lambda ds: ds.isel(scale=0, d=0, m=-1),
        colour="n",
        line="cosine",
        spread="none",
        x=lambda _: _CLOCK,
        xlabel="time",
        xscale="linear",
        title="share of neurons aligned, d = {d}, m = {m}",
        laws=tuple(
            _law_of_share(*one)
            for one in zip(COSINES, ("law, n → ∞", None), ("-", "--"), strict=True)
        ),
    ),
    Curves(
        _medians,
        of=lambda ds: _small(ds).isel(n=-1, d=0),
        colour="m",
        line="what",
        mark="o",
        spread="none",
        title="times, n = {n}, d = {d}; dotted: law",
        laws=tuple(
            Law(float(alignment_time(np.array([np.pi / 2]), c, RATE)[0]), line=":")
            for c in COSINES
        ),
    ),
    Drawing(
        _draw_missing,
        of=lambda ds: _small(ds).isel(n=-1, m=-1),
        yscale="log",
        title=f"share not aligned ({max(COSINES)}) at the exit",
    ),
    of=alignment,
    x="scale",
    xlabel="initial scale λ",
    xscale="log",
    names={"cosine": {c: f"cos > {c}" for c in COSINES}},
    size=(5.0, 4.2),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The alignment time does not depend on λ and m; the exit grows like ln(1/λ)."""
    found, rows = alignment(ds), []
    small = found["scale"].values[found["scale"].values > REFERENCE]
    for d, m in itertools.product(found["d"].values, found["m"].values):
        where = f"d = {d}, m = {m}, n = {found['n'].values[-1]}"
        last = found.sel(d=d, m=m).isel(n=-1)
        rows += against_law(last, where)
        rows += against_scale(last, small, where)
    time = found["time"].sel(cosine=max(COSINES)).isel(scale=0)
    wide = time.isel(m=[-1, 0]).stack(part=["n", "d"])
    large = time.isel(n=[-1, -2 % time.sizes["n"]]).stack(part=["d", "m"])
    text = "median time to cos 0.99, largest {}, farthest from 1"
    of_m, of_n = text.format("m over smallest"), text.format("n over the one before")
    return [
        *rows,
        *Claims(needs={"two values of m": time.sizes["m"] > 1}).rows(
            ratio(of_m, wide, "m", (0.9, 1.1), PAPER)
        ),
        *Claims(needs={"two values of n": time.sizes["n"] > 1}).rows(
            ratio(of_n, large, "n", (0.85, 1.15), REPLY)
        ),
    ]
