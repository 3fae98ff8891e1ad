"""Three points that no width interpolates: early alignment ends at least squares.

All neurons with aⱼ > 0 turn to one direction in which all three points are active; the
others die.  What is left is one affine function, so the network ends at the
least-squares line with a loss above 0, however wide it is.

"The neurons with aⱼ < 0 die" is a statement about λ → 0.  One that starts close enough
to Σ yᵢxᵢ shrinks along it, and if it is still alive when the others have reached least
squares, nothing pulls any more.  In the quick preset (λ = 1e-3) that happens: the
largest share of the mass in such neurons is tiny but not 0, and the claim fails there.

Reference: Boursier & Flammarion (2024), arXiv:2401.10791, section 5.  The published
script takes the mean squared error without ½, m = 20,000 and scale 1e-3.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import largest, near
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.teachers.three_points import INPUTS, TARGETS, three_points
from simbias.ensemble.engine import exact_numerics
from simbias.experiments._times import log_times
from simbias.figures.curves import curves
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse, mse
from simbias.measures.clusters.effective_width import EffectiveWidth
from simbias.measures.neurons.group_sums import GroupSums
from simbias.measures.neurons.negative_live_mass import NegativeLiveMass
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.two_layer_init import balanced
from simbias.presets import presets
from simbias.theory.ols import ols

PAPER = "Boursier & Flammarion (2024), arXiv:2401.10791, section 5"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 300.0
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-6
DERIVED = "least squares on the three points; " + PAPER


def make(
    key: PRNGKeyArray, *, m: int = 100, scale: Real = 1e-3
) -> tuple[Dataset, AbstractNetwork]:
    """The three points with a constant input, and a balanced network."""
    return three_points(key), balanced(key, m=m, d=2, scale=scale)


experiment = presets(
    Experiment(
        name="three_points",
        make=make,
        cell={"m": (30, 300)},
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
    smoke={"cell": {"m": 100}, "seeds": 3, "times": log_times(1.0, 300.0, 20)},
    paper={
        "cell": {"m": (100, 1000, 20_000)},
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
    """The loss on its way to least squares, and the function at the end."""
    with style():
        whole = blank(9.0, 3.6)
        loss, line = whole.subplots(1, 2)
        flat = ds.stack(member=[d for d in ds["status"].dims])
        curves(loss, flat["train_risk"], colour=COLOURS[0])
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
        for slope, intercept in final.values:
            line.plot(grid, np.maximum(slope * grid + intercept, 0), lw=0.6, c="C0")
        line.plot(INPUTS, TARGETS, "o", color=COLOURS[1])
        line.set_xticks([-1, -0.5, 0, 0.5, 1])
        line.set_xlabel("x")
        line.set_title("the networks at the end, and the sample")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The least-squares line, reached from every start at every width."""
    last = ds.isel(time=-1)
    line = last["group_sums"].sel(group="positive")
    risk, slope, intercept = least_squares()
    rows = [
        ("mean squared error (no ½)", last["train_risk"], risk, 3e-6),
        ("slope of the function", line.isel(input=0), slope, 1.4e-4),
        ("intercept of the function", line.isel(input=1), intercept, 1.9e-4),
    ]
    stray = "largest share of the mass in live neurons with a < 0"
    return [
        *(
            near(
                f"{text}, member farthest from the law",
                seen,
                law,
                law - wide,
                law + wide,
                DERIVED,
                tolerance=TOLERANCE,
            )
            for text, seen, law, wide in rows
        ),
        largest(stray, last["negative_live_mass"], 0.0, 0.0, PAPER),
    ]
