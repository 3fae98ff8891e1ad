"""Three points that no width interpolates: early alignment ends at least squares.

All neurons with aⱼ > 0 turn to one direction in which all three points are active; the
others die.  So the network is one affine function.  It ends at the least-squares line
with a loss above 0, however wide it is.

"The neurons with aⱼ < 0 die" is a statement about λ → 0.  A neuron that starts within
an angle of order λ of D, the direction of the others, shrinks along it.  Its size falls
from λ/√m to λ²/√m until the loss begins to fall.  Once the others have reached least
squares, its gradient is 0.  So with a probability of order mλ one such neuron survives,
with a share of order λ⁴/m of the mass.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791, section 5.  The published
script takes the mean squared error without ½, m = 20,000 and scale 1e-3.
"""

import functools

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, farthest_of, largest_of, share_of, slope_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.teachers.three_points import INPUTS, TARGETS, three_points
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.figures import COLOURS, Curves, Law, Panels, Points
from simbias.flows import ReluFlow
from simbias.losses import half_mse, mse
from simbias.measures import EffectiveWidth, GroupSums, NegativeLiveMass, TrainRisk
from simbias.networks import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.ols import ols

PAPER = "Boursier & Flammarion (2024), arXiv:2401.10791, section 5"
LEAST_TIME = 300.0
AXES = ("m", "scale")
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-6
LINE = "least squares on the three points; " + PAPER
DERIVED = "derived: the early flow near D, see the file; for λ → 0 " + PAPER
# The published scale, below which the line is claimed.
PUBLISHED = 1e-3
SAMPLE = xr.DataArray([*TARGETS], {"input": [*INPUTS]})


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


def small(ds: xr.Dataset) -> xr.Dataset:
    """The networks to which the claims on the line apply."""
    return ds.sel(scale=ds["scale"] <= PUBLISHED)


def stray(ds: xr.Dataset) -> xr.DataArray:
    """Share of the mass in live neurons with a < 0 at the end, by m, λ and `member`."""
    last = ds["negative_live_mass"].isel(time=-1).rename(seed="member")
    return last.transpose("m", "scale", "member")


def functions(part: xr.Dataset) -> xr.DataArray:
    """The networks at the end, along x."""
    sums = part["group_sums"].isel(time=-1).sel(group="positive")
    grid = np.linspace(-1, 1, 101)
    x = xr.DataArray(grid, {"x": grid})
    return (sums.isel(input=0) * x + sums.isel(input=1)).clip(min=0)


def fourth_power(ds: xr.Dataset) -> xr.DataArray:
    """∝ λ⁴, through the median of the networks with such a neuron."""
    seen = stray(ds) * ds["m"] / ds["scale"] ** 4
    return seen.where(seen > 0).median() * ds["scale"] ** 4


figure = Panels(
    Curves(
        "train_risk",
        of=small,
        colour="scale",
        spread="each",
        pooled=("m",),
        title="mean squared error",
        xlabel="time",
        xscale="log",
        laws=(Law(lambda _: xr.DataArray(least_squares()[0]), "least squares", ":"),),
    ),
    Curves(
        functions,
        of=small,
        spread="each",
        pooled=("scale", "m"),
        title="the networks at the end",
        x=lambda part: functions(part)["x"],
        xlabel="x",
        laws=(Law(lambda _: SAMPLE, "sample", "o", COLOURS[1]),),
    ),
    Points(
        lambda ds: (stray(ds) * ds["m"]).where(lambda seen: seen > 0),
        colour="m",
        first_colour=4,
        has_median=False,
        title="m × mass of live neurons, a < 0",
        x="scale",
        xlabel="initial scale λ",
        xscale="log",
        yscale="log",
        laws=(Law(fourth_power, "∝ λ⁴, through the median"),),
    ),
    names={"scale": "λ"},
    size=(4.5, 3.4),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The least-squares line at every width, and surviving neurons against λ."""
    last = small(ds).isel(time=-1)
    line = last["group_sums"].sel(group="positive")
    risk, rise, intercept = least_squares()
    where = f", λ ≤ {PUBLISHED:g}, member farthest from the law"
    exact = functools.partial(farthest_of, tolerance=TOLERANCE)
    rows = [
        exact(f"{text}{where}", seen, law, (law - wide, law + wide), LINE)
        for text, seen, law, wide in (
            ("mean squared error (no ½)", last["train_risk"], risk, 3e-6),
            ("slope of the function", line.isel(input=0), rise, 1.4e-4),
            ("intercept of the function", line.isel(input=1), intercept, 1.9e-4),
        )
    ]
    return [*rows, *_left_alive(stray(ds))]


def _left_alive(stray: xr.DataArray) -> list[Claim]:
    """The share is at most of order λ⁴/m, and 0 for small λ."""
    few, many = (float(stray["scale"][i]) for i in (0, -1))
    width, is_left = int(stray["m"][-1]), stray.values > 0
    every = stray["scale"].broadcast_like(stray).transpose(*stray.dims)
    x = np.log(every.values[is_left])
    y = np.log((stray * stray["m"]).values[is_left])
    is_seen = (stray > 0).where(stray.notnull()).sel(scale=many, m=width)
    law = "exponent of λ in m times the share of the mass in live neurons with a < 0, "
    law += "where there are any"
    control = f"control, members with such a neuron, λ = {many:g}, m = {width}"
    least = f"the same share of the mass, λ = {few:g}, largest"
    several = np.unique(x).size > 1
    x, y = (x, y) if several else ([], [])
    return [
        # Half way to λ², a neuron that does not shrink, and to λ⁶.
        *Claims({"two λ with such neurons": several}).rows(
            slope_of(law, x, y, (3, 5), DERIVED)
        ),
        *Claims({"mλ ≥ 3": many * width >= 3}).rows(
            share_of(control, is_seen, (0.5, 1), DERIVED)
        ),
        *Claims({"λ ≤ 1e-5": few <= 1e-5}).rows(
            largest_of(least, stray.sel(scale=few), (0, 0), DERIVED)
        ),
    ]
