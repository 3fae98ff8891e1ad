"""Forty points on a line, in snapshots: one direction, a line, then kink after kink.

A piecewise-linear target with nine knots, sampled at 40 uniform points of [−1, 1], and
a small balanced network with a hidden bias (here a second input that is always 1).  All
neurons with aⱼ > 0 turn to one extremal vector with all points active, so the network
becomes the least-squares line and stays there.  Kinks then come in steps, and are made
by neurons with aⱼ < 0: near zero each of these leaves the sample and dies, but they see
only the weakly pulling points at the ends while they do, and those that are late when
the loss moves survive.  So how many kinks there are in the end, and how far from
interpolation the network stops, is decided by λ.  When each of them dies is known from
the start (`theory.early_limit`), and from a λ for which all do before the loss moves
the network stays a line.

A kink is a point where the slope changes by more than 0.05, neurons whose kinks are
closer than 0.02 taken together: see `_kink_histories` and `analysis.kinks`.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791, section 5, second example,
with the code that accompanies it (40 points, snapshots at geometric steps).
"""

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.claims import farthest_of, largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.teachers.stewart_1d import KNOTS, VALUES
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.alignment._kink_histories import (
    BEND,
    histories,
    kinks_of,
    members,
    sample,
)
from simbias.figures import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import EffectiveWidth, NeuronWeights, TrainRisk
from simbias.networks import balanced

PAPER = "Boursier & Flammarion (2024), arXiv:2401.10791, section 5"
DERIVED = "derived: near zero every neuron moves alone; " + PAPER
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 2000.0
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
_PANELS = 6


def make(
    key: PRNGKeyArray, *, m: int = 100, scale: Real = 1e-4
) -> tuple[Dataset, AbstractNetwork]:
    """The sample, the same for every member, and a balanced network."""
    return sample(), balanced(key, m=m, d=2, scale=scale)


experiment = presets(
    Experiment(
        name="stewart_snapshots",
        make=make,
        cell={"scale": (1e-2, 1e-4, 1e-8, 1e-16)},
        seeds=6,
        shared=("m", "scale"),
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=log_times(1.0, 20_000.0, 60),
        measures={
            "train_risk": TrainRisk(),
            "effective_width": EffectiveWidth(share=1e-2),
            "neuron_weights": NeuronWeights(),
        },
    ),
    smoke={
        "cell": {"m": 30, "scale": 1e-4},
        "seeds": 2,
        "times": log_times(1.0, 2000.0, 30),
    },
    paper={
        "cell": {"m": (200, 2000, 20_000), "scale": (1e-2, 1e-4, 1e-8, 1e-16)},
        "seeds": 20,
        "times": log_times(1.0, 100_000.0, 120),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Snapshots of the function of one member, and the histories of all."""
    found, flat = histories(ds), members(ds)
    scales = np.unique(found["scale"].values)
    colours = {v: COLOURS[i % len(COLOURS)] for i, v in enumerate(scales)}
    # The first member of the middle scale.
    chosen = int(np.argmax(found["scale"].values == scales[len(scales) // 2]))
    one, shown = flat.isel(member=chosen), _moments(found.isel(member=chosen))
    with style():
        whole = blank(13.0, 6.0)
        top, bottom = list(whole.subfigures(2, 1))  # pyright: ignore
        panels = top.subplots(1, len(shown), sharey=True)
        for panel, i in zip(panels, shown, strict=True):
            _snapshot(panel, one.isel(time=int(i)), sample())
        top.suptitle(
            f"λ = {float(one['scale']):g}, m = {len(one['neuron'])}; blue: kinks",
            fontsize="medium",
        )
        loss, directions, bends = bottom.subplots(1, 3)
        for axes, name in (
            (loss, "train_risk"),
            (directions, "directions"),
            (bends, "kinks"),
        ):
            _histories(axes, found, name, colours)
        loss.set_yscale("log")
        loss.set_title("mean squared error; dotted: least-squares line")
        law_level(loss, float(found["line"][0]))
        loss.legend()
        directions.set_yscale("log")
        directions.set_title("directions with more than 1 % of the mass")
        bends.set_title(f"kinks with a change of slope above {BEND}")
    return whole


def _histories(axes: Axes, found: xr.Dataset, name: str, colours: dict) -> None:
    seen = set()
    for i in range(found.sizes["member"]):
        one = found.isel(member=i)
        scale = float(one["scale"])
        label = None if scale in seen else f"λ = {scale:g}"
        seen.add(scale)
        values = one[name].values[1:]
        axes.plot(one["time"].values[1:], values, lw=0.8, c=colours[scale], label=label)
    axes.set_xscale("log")
    axes.set_xlabel("time")


def _moments(one: xr.Dataset) -> np.ndarray:
    """Records at the exit, on the line, and while the first kinks appear."""
    time = one["time"].values
    left = float(one["exit"]) if np.isfinite(one["exit"]) else time[1]
    first = time[max(int(np.argmax(one["kinks"].values > 0)), 1)]
    bends = np.geomspace(max(first, 4 * left), time[-1], _PANELS - 2)
    wanted = [left, 1.5 * left, *np.minimum(bends, first * np.array([1, 1.5, 2.5, 8]))]
    found = [int(np.argmin(np.abs(np.log(time[1:] / t)))) + 1 for t in wanted]
    return np.unique(found)


def _snapshot(axes: Axes, one: xr.Dataset, data: Dataset) -> None:
    weights = one["neuron_weights"].values
    grid = np.linspace(-1, 1, 401)
    w, b, a = weights[np.isfinite(weights).all(axis=1)].T
    f = np.maximum(np.outer(grid, w) + b, 0) @ a
    axes.plot(KNOTS, VALUES, "-", color="#BBBBBB", lw=1)
    axes.plot(np.asarray(data.x)[:, 0], np.asarray(data.y)[:, 0], ".", c="black", ms=3)
    axes.plot(grid, f, color=COLOURS[1], lw=1.5)
    for at, _ in kinks_of(weights):
        axes.axvline(at, color=COLOURS[0], lw=0.6)
    axes.set_title(f"t = {float(one['time']):.3g}")
    axes.set_xlabel("x")


def claims(ds: xr.Dataset) -> list[Claim]:
    """One direction and a line first, whatever m; then kinks, unless all a < 0 died."""
    found = histories(ds)
    time, after = found["time"], 4 * found["exit"]
    # All members of one λ leave zero at nearly the same time.
    then = [int(np.argmin(np.abs(time.values - float(t)))) for t in after]
    early = found.isel(time=xr.DataArray(then, dims="member"))
    scale = found["scale"].values
    small, count = scale <= 1e-3, found["kinks"].values[:, -1]
    error, last = (
        (part["train_risk"] / found["line"]).values
        for part in (early, found.isel(time=-1))
    )
    lines, bends = (early[k].values[small] for k in ("directions", "kinks"))
    alive, law = found["alive"].values, found["law"].values
    when = f"at t = {float(time[-1]):g}"
    dead = "where all a < 0 die before the exit"
    off = {"tolerance": TOLERANCE}
    return [
        largest_of(
            "directions at 4 times the exit, λ ≤ 1e-3, most", lines, (1, 1), PAPER
        ),
        farthest_of(
            "error over that of the least-squares line, then, farthest from 1",
            error[small],
            1.0,
            (0.99, 1.02),
            PAPER,
            **off,
        ),
        largest_of("kinks, then, most", bends, (0, 0), PAPER),
        farthest_of(
            "neurons with a < 0 alive at the exit, less their number by the early "
            "flow, farthest",
            alive - law,
            # One neuron: the residual has changed by 1 % at most, and so has the time.
            0,
            (-1, 1),
            DERIVED,
        ),
        smallest_of(
            f"control, kinks {when}, λ = {scale.max():g}, least",
            count[scale == scale.max()],
            (1, np.inf),
            PAPER,
        ),
        largest_of(f"kinks {when}, {dead}, most", count[law == 0], (0, 0), DERIVED),
        farthest_of(
            f"error over that of the line {when}, {dead}, farthest from 1",
            last[law == 0],
            1.0,
            (0.99, 1.01),
            DERIVED,
            **off,
        ),
    ]
