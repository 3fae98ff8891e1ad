"""Two orthogonal points: two plateaus, then the least-norm interpolator.

From a small balanced initialisation the neurons with aⱼ > 0 fit the positive point and
those with aⱼ < 0 the negative one.  Each plateau has a length that the initialisation
scale sets.  The limit is the interpolator of least ½‖θ‖².

Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939, theorem 1 and
the published notebook (m = 60, scale 1e-6/√(md)).
"""

import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import farthest_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import orthogonal_toy
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.figures import Curves, Law, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import EffectiveWidth, GroupSums, ParameterNorm, TrainRisk
from simbias.networks import balanced

PAPER = "Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939, theorem 1"
LEAST_TIME = 100.0
AXES = ("scale",)
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-7
HALF_NORM = 5**-0.5 + 2 * 5**-0.5  # Σ over the signs of |y|/‖x‖
POSITIVE, NEGATIVE = (0.4, 0.2), (0.4, -0.8)


def make(
    key: PRNGKeyArray, *, m: int = 60, scale: Real = 1e-6
) -> tuple[Dataset, AbstractNetwork]:
    """The two points with a constant input, and a balanced network."""
    return orthogonal_toy(key), balanced(key, m=m, d=2, scale=scale)


experiment = presets(
    Experiment(
        name="orthogonal_toy",
        make=make,
        cell={"scale": (1e-6, 1e-3)},
        seeds=20,
        flow=ReluFlow(rtol=1e-8),
        loss=half_mse,
        times=log_times(1.0, 400.0, 80),
        measures={
            "train_risk": TrainRisk(),
            "parameter_norm": ParameterNorm(),
            "group_sums": GroupSums(),
            "effective_width": EffectiveWidth(),
        },
    ),
    smoke={"cell": {"scale": 1e-6}, "seeds": 4, "times": log_times(1.0, 100.0, 40)},
    paper={
        "cell": {"scale": (1e-6, 1e-4, 1e-2)},
        "seeds": 200,
        "times": log_times(1.0, 1000.0, 120),
    },
)


figure = Panels(
    Curves("train_risk", colour="scale", spread="each", title="mean squared error"),
    Curves(
        "parameter_norm",
        colour="scale",
        spread="each",
        title=f"½‖θ‖²; dotted: least norm, {HALF_NORM:.6f}",
        laws=(Law(HALF_NORM, line=":", colour="black"),),
    ),
    xscale="log",
    names={"scale": "λ"},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The least-norm interpolator; from the smallest start of the grid."""
    last = at(ds.isel(time=-1), "scale", min)
    risk, norm = "mean squared error, largest", "½‖θ‖², member farthest from the law"
    off, band = {"tolerance": TOLERANCE}, (1.341640, 1.341642)
    rows = [
        largest_of(risk, last["train_risk"], (0.0, 1e-6), PAPER, **off),
        farthest_of(norm, last["parameter_norm"], HALF_NORM, band, PAPER, **off),
    ]
    for group, law in (("positive", POSITIVE), ("negative", NEGATIVE)):
        for i, value in enumerate(law):
            text = f"coordinate {i + 1} of Σ aⱼwⱼ over the {group} neurons, farthest"
            sums = last["group_sums"].sel(group=group).isel(input=i)
            band = (value - 1e-4, value + 1e-4)
            rows.append(farthest_of(text, sums, value, band, PAPER, **off))
    return rows
