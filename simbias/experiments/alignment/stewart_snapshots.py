"""Forty points on a line, in snapshots: one direction, a line, then kink after kink.

The target is piecewise linear with nine knots, sampled at 40 uniform points of [−1, 1].
The network is small and balanced, with a hidden bias (here a second input that is
always 1).  All neurons with aⱼ > 0 turn to one extremal vector with all points active.
So the network first becomes the least-squares line.  Then kinks appear one after
another, and neurons with aⱼ < 0 make them.  Near zero these neurons lose their active
points and die, but some are still alive when the loss begins to fall.  The initial
weights determine when each of them dies (`theory.early_limit`).  If λ is so small that
all of them die in time, the network stays a line.

A kink is a point where the slope changes by more than 0.05.  Neurons whose kinks are
closer than 0.02 count as one: see `_kink_histories` and `analysis.kinks`.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791, section 5, second example,
with the code that accompanies it (40 points, snapshots at geometric steps).
"""

import functools

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

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
from simbias.figures import COLOURS, Curves, Law, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import EffectiveWidth, NeuronWeights, TrainRisk
from simbias.networks import balanced

PAPER = "Boursier & Flammarion (2024), arXiv:2401.10791, section 5"
DERIVED = "derived: near zero every neuron moves alone; " + PAPER
LEAST_TIME = 2000.0
AXES = ("m", "scale")
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
SNAPSHOTS = 6


def make(
    key: PRNGKeyArray, *, m: int = 100, scale: Real = 1e-4
) -> tuple[Dataset, AbstractNetwork]:
    """The dataset, the same for every network, and a balanced network."""
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


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """Snapshots of the first network of the middle λ, and the histories of all."""
    found, flat = histories(ds), members(ds)
    scales, data = np.unique(found["scale"].values), sample()
    chosen = int(np.argmax(found["scale"].values == scales[len(scales) // 2]))
    one, grid = flat.isel(member=chosen), np.linspace(-1, 1, 401)
    shown = one.isel(time=_moments(found.isel(member=chosen)))
    rows = shown["neuron_weights"].transpose("time", "neuron", ...).values
    values, marks = [], np.full((len(rows), len(grid)), np.nan)
    for i, weights in enumerate(rows):
        w, b, a = weights[np.isfinite(weights).all(axis=1)].T
        values.append(np.maximum(np.outer(grid, w) + b, 0) @ a)
        for kink, _ in kinks_of(weights):
            at = np.argmin(np.abs(grid - kink))
            marks[i, at] = values[i][at]
    shared = {
        "f": (("snapshot", "x"), values),
        "bends": (("snapshot", "x"), marks),
        "target": ("knot", [*VALUES]),
        "seen": ("point", np.asarray(data.y)[:, 0]),
    }
    kept = found[["train_risk", "directions", "kinks"]].isel(time=slice(1, None))
    by_scale = [kept.where(found["scale"] == v).astype(float) for v in scales]
    points = {"knot": [*KNOTS], "point": np.asarray(data.x)[:, 0], "x": grid}
    points |= {"snapshot": shown["time"].values, "start": one["scale"].item()}
    every = xr.concat(by_scale, "λ").drop_vars("scale").assign(shared)
    return every.assign(line=found["line"][0]).assign_coords(points | {"λ": scales})


def _moments(one: xr.Dataset) -> np.ndarray:
    """Records at the exit, on the line, and while the first kinks appear."""
    time = one["time"].values
    left = float(one["exit"]) if np.isfinite(one["exit"]) else time[1]
    first = time[max(int(np.argmax(one["kinks"].values > 0)), 1)]
    bends = np.geomspace(max(first, 4 * left), time[-1], SNAPSHOTS - 2)
    wanted = [left, 1.5 * left, *np.minimum(bends, first * np.array([1, 1.5, 2.5, 8]))]
    found = [int(np.argmin(np.abs(np.log(time[1:] / t)))) + 1 for t in wanted]
    return np.unique(found)


each = functools.partial(
    Curves,
    colour="λ",
    spread="each",
    pooled=("member",),
    xscale="log",
    xlabel="time",
)
figure = Panels(
    Curves(
        "f",
        facet="snapshot",
        first_colour=1,
        x="x",
        laws=(
            Law("target", line="-", colour="#BBBBBB"),
            Law("seen", line=".", colour="black"),
            Law("bends", "kinks", "o", COLOURS[0]),
        ),
    ),
    each(
        "train_risk",
        title="mean squared error",
        yscale="log",
        laws=(Law("line", "least-squares line", ":"),),
    ),
    each("directions", title="directions with more than 1 % of the mass", yscale="log"),
    each("kinks", title=f"kinks with a change of slope above {BEND}"),
    of=drawn,
    names={"snapshot": "t", "λ": "λ"},
    title="above: one network of λ = {start:g}",
    across=3,
    size=(4.3, 2.8),
    legend=6,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """One direction and a line first, for all m; then kinks, unless all a < 0 died."""
    found = histories(ds)
    # All members of one λ leave zero at nearly the same time.
    then = [
        np.argmin(np.abs(found["time"].values - float(4 * t))) for t in found["exit"]
    ]
    early = found.isel(time=xr.DataArray(then, dims="member"))
    last, law = found.isel(time=-1), found["law"].values
    scale, count = found["scale"].values, last["kinks"].values
    error = lambda part: (part["train_risk"] / found["line"]).values
    small = scale <= 1e-3
    when = f"at t = {float(last['time']):g}"
    dead = f"{when}, where all a < 0 die before the exit"
    error_text = "error over that of the least-squares line, then, farthest from 1"
    error_dead = f"error over that of the line {dead}, farthest from 1"
    alive = (
        "neurons with a < 0 alive at the exit, less their number by the early flow, "
    )
    control = f"control, kinks {when}, λ = {scale.max():g}, least"
    directions = "directions at 4 times the exit, λ ≤ 1e-3, most"
    lines, bends = (early[name].values[small] for name in ("directions", "kinks"))
    exact = functools.partial(farthest_of, tolerance=TOLERANCE)
    # One neuron: the residual has changed by 1 % at most, and so has the time.
    off, most = found["alive"].values - law, count[scale == scale.max()]
    return [
        largest_of(directions, lines, (1, 1), PAPER),
        exact(error_text, error(early)[small], 1.0, (0.99, 1.02), PAPER),
        largest_of("kinks, then, most", bends, (0, 0), PAPER),
        farthest_of(f"{alive}farthest", off, 0, (-1, 1), DERIVED),
        smallest_of(control, most, (1, np.inf), PAPER),
        largest_of(f"kinks {dead}, most", count[law == 0], (0, 0), DERIVED),
        exact(error_dead, error(last)[law == 0], 1.0, (0.99, 1.01), DERIVED),
    ]
