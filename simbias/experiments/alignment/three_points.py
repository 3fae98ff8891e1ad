"""Three points that no width interpolates: early alignment ends at least squares.

All neurons with aⱼ > 0 turn to one direction in which all three points are active; the
others die.  What is left is one affine function, so the network ends at the
least-squares line with a loss above 0, however wide it is.

"The neurons with aⱼ < 0 die" is a statement about λ → 0.  One that starts within about
λ of D, the direction to which the others turn, shrinks along it without leaving it,
from λ/√m to λ²/√m when the loss moves, and nothing pulls any more once the others have
reached least squares.  So for m neurons there is a chance of order mλ that one is left
alive, with a share of order λ⁴/m of the mass.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791, section 5.  The published
script takes the mean squared error without ½, m = 20,000 and scale 1e-3.
"""

import dataclasses

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import parts, with_axes
from simbias.claims import farthest_of, largest_of, share_of, slope_of, value_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.teachers.three_points import INPUTS, TARGETS, three_points
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.figures import law_level, law_line
from simbias.figures.curves import curves
from simbias.figures.logarithmic import logarithmic
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import ReluFlow
from simbias.losses import half_mse, mse
from simbias.measures import EffectiveWidth, GroupSums, NegativeLiveMass, TrainRisk
from simbias.networks import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.ols import ols

PAPER = "Boursier & Flammarion (2024), arXiv:2401.10791, section 5"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 300.0
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-6
LINE = "least squares on the three points; " + PAPER
DERIVED = "derived: the early flow near D, see the file; for λ → 0 " + PAPER
# The published scale, below which the line is claimed.
PUBLISHED = 1e-3


def make(
    key: PRNGKeyArray, *, m: int = 100, scale: Real = 1e-3
) -> tuple[Dataset, AbstractNetwork]:
    """The three points with a constant input, and a balanced network."""
    return three_points(key), balanced(key, m=m, d=2, scale=scale)


experiment = presets(
    Experiment(
        name="three_points",
        make=make,
        cell={"m": (30, 300), "scale": (1e-2, 3e-3, 1e-3, 1e-4, 1e-6)},
        seeds=20,
        flow=ReluFlow(rtol=1e-7),
        loss=half_mse,
        times=log_times(1.0, 1000.0, 40),
        measures={
            "train_risk": TrainRisk(),
            "group_sums": GroupSums(),
            "negative_live_mass": NegativeLiveMass(),
            "effective_width": EffectiveWidth(),
        },
    ),
    smoke={
        "cell": {"m": 100, "scale": 1e-6},
        "seeds": 3,
        "times": log_times(1.0, 300.0, 20),
    },
    paper={
        "cell": {"m": (100, 1000, 20_000), "scale": (1e-2, 3e-3, 1e-3, 1e-4)},
        "seeds": 100,
        "times": log_times(1.0, 4000.0, 60),
    },
)


def least_squares() -> tuple[float, float, float]:
    """Mean squared error, slope and intercept of the line."""
    with exact_numerics():
        data = three_points(jax.random.key(0))
        line = ols(data)
        risk = mse(data.x @ line, data.y, data.weight)
    slope, intercept = np.asarray(line)[:, 0]
    return float(risk), float(slope), float(intercept)


def figure(ds: xr.Dataset) -> Figure:
    """Losses on their way to least squares, functions at the end, and who is left."""
    small = _small(ds)
    with style():
        whole = blank(13.5, 3.6)
        loss, line, left = whole.subplots(1, 3)
        flat = small.stack(member=[d for d in small["status"].dims])
        for i, scale in enumerate(small["scale"].values):
            part = small["train_risk"].sel(scale=scale)
            colour = COLOURS[i % len(COLOURS)]
            curves(loss, part, colour=colour, label=f"λ = {scale:g}")
        loss.legend()
        loss.set_yscale("linear")
        risk, _, _ = least_squares()
        law_level(loss, risk)
        loss.set_title(f"mean squared error; dotted: least squares, {risk:.6f}")
        grid = np.linspace(-1, 1, 101)
        final = (
            flat["group_sums"]
            .isel(time=-1)
            .sel(group="positive")
            .transpose("member", ...)
        )
        for rise, intercept in final.values:
            line.plot(grid, np.maximum(rise * grid + intercept, 0), lw=0.6, c="C0")
        line.plot(INPUTS, TARGETS, "o", color=COLOURS[1])
        line.set_xticks([-1, -0.5, 0, 0.5, 1])
        line.set_xlabel("x")
        line.set_title("the networks at the end, and the sample")
        _left(left, ds)
    return whole


def _left(axes: Axes, ds: xr.Dataset) -> None:
    """A dot per member that has such a neuron, of each m its own mark."""
    stray = _stray(ds)
    for i, m in enumerate(stray["m"].values):
        part = stray.sel(m=m)
        scale = part["scale"].broadcast_like(part).values
        seen = part.values > 0
        axes.plot(
            scale[seen],
            m * part.values[seen],
            "os^D"[i % 4],
            ms=4,
            color=COLOURS[i % len(COLOURS)],
            alpha=0.6,
            label=f"m = {m}",
        )
    known = (stray * stray["m"] / stray["scale"] ** 4).transpose(*stray.dims).values
    if (known > 0).any():
        grid = stray["scale"].values[(known > 0).any(axis=(0, 2))]
        law = np.median(known[known > 0]) * grid**4
        law_line(axes, grid, law, "∝ λ⁴, through the median")
        axes.legend()
    logarithmic(axes)
    axes.set_xlabel("initial scale λ")
    axes.set_title("m × share of the mass in live neurons with a < 0")


def _small(ds: xr.Dataset) -> xr.Dataset:
    ds = with_axes(ds, ("scale", "m"))
    return ds.sel(scale=ds["scale"] <= PUBLISHED)


def _stray(ds: xr.Dataset) -> xr.DataArray:
    """Share of the mass in live neurons with a < 0 at the end, over m, λ and member."""
    last = with_axes(ds, ("scale", "m"))["negative_live_mass"].isel(time=-1)
    members = [k for k in last.dims if k not in ("m", "scale")]
    return last.stack(member=members).transpose("m", "scale", "member")


def claims(ds: xr.Dataset) -> list[Claim]:
    """The least-squares line at every width, and who is left beside it, against λ."""
    last = _small(ds).isel(time=-1)
    line = last["group_sums"].sel(group="positive")
    risk, rise, intercept = least_squares()
    rows = [
        ("mean squared error (no ½)", last["train_risk"], risk, 3e-6),
        ("slope of the function", line.isel(input=0), rise, 1.4e-4),
        ("intercept of the function", line.isel(input=1), intercept, 1.9e-4),
    ]
    return [
        *(
            farthest_of(
                f"{text}, λ ≤ {PUBLISHED:g}, member farthest from the law",
                seen,
                law,
                (law - wide, law + wide),
                LINE,
                tolerance=TOLERANCE,
            )
            for text, seen, law, wide in rows
        ),
        *(
            dataclasses.replace(c, statement=c.statement + (label and f" ({label})"))
            for label, part in parts(ds, ("scale", "m"))
            for c in _left_alive(_stray(part))
        ),
    ]


def _left_alive(stray: xr.DataArray) -> list[Claim]:
    """That a share ∝ λ⁴/m is left at most, and of nobody where λ is small."""
    scale = stray["scale"].values
    is_left = stray.values > 0
    every = stray["scale"].broadcast_like(stray).transpose(*stray.dims)
    x = np.log(every.values[is_left])
    y = np.log((stray * stray["m"]).values[is_left])
    few, many, width = scale[0], scale[-1], int(stray["m"][-1])
    is_seen = (stray > 0).where(stray.notnull())
    law = (
        "exponent of λ in m times the share of the mass in live neurons with a < 0, "
        "where there are any"
    )
    # Half way to λ², a neuron that does not shrink, and to λ⁶.
    if np.unique(x).size > 1:
        found = slope_of(law, x, y, (3, 5), DERIVED)
    else:
        found = value_of(law, np.nan, (3, 5), DERIVED).given(
            False, "two λ with such neurons"
        )
    return [
        found,
        share_of(
            f"control, members with such a neuron, λ = {many:g}, m = {width}",
            is_seen.sel(scale=many, m=width),
            (0.5, 1),
            DERIVED,
        ).given(many * width >= 3, "mλ ≥ 3"),
        largest_of(
            f"the same share of the mass, λ = {few:g}, largest",
            stray.sel(scale=few),
            (0, 0),
            DERIVED,
        ).given(few <= 1e-5, "λ ≤ 1e-5"),
    ]
