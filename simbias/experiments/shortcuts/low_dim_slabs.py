"""Without a linear coordinate a network looks at as many directions as there are.

The control of `low_dim_inputs`: the same networks on coordinates that all have five
slabs, none of which a line tells apart, beside the law with one linear coordinate.
Both are learned from a small start.  With the linear coordinate two directions of the
first layer carry every label; without it W keeps most of its rank, and with all but its
two main directions exchanged a third of what was gained is lost.

Reference: the control of Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, is
ours; law of Shah et al. (2020), arXiv:2006.07710.
"""

import numpy as np
import xarray as xr

from simbias.analysis.at import at
from simbias.analysis.parts import with_axes
from simbias.claims import Claims, difference_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiments.shortcuts.low_dim_inputs import (
    CHANCE,
    MIXED,
    RANK,
    RATE,
    make,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import ProjectedScores, WeightRank
from simbias.presets import presets

AXES = ("simple",)
# What the claims are about.
LEAST_TIME = 800.0

experiment = presets(
    Experiment(
        name="low_dim_slabs",
        make=make,
        cell={"simple": (2, 5), "d": 10, "scale": 0.1},
        seeds=20,
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(12.5 * 2**k for k in range(7))),
        measures={
            "scores": ProjectedScores(rank=RANK),
            "rank": WeightRank(is_squared=True),
        },
        dtype="float32",
    ),
    smoke={"cell": {"n": 100, "d": 4, "m": 8, "n_test": 100}, "seeds": 6},
    paper={"cell": {"d": 50, "n": 10_000, "m": 1000}, "seeds": 50},
)


NAMES = {k: f"all of {k} slabs" for k in (3, 5, 7)} | {2: "a linear coordinate"}
figure = Panels(
    Curves("rank", colour="simple", mark="o", title="effective rank of W (σ²)"),
    Curves(
        lambda part: part["scores"].sel(score="accuracy"),
        colour="mixed",
        mark="o",
        first=2,
        facet="simple",
        xlim=(-0.2, 1.5 * LEAST_TIME),
        ylim=(0.4, 1.03),
        title="test accuracy",
        laws=(CHANCE,),
    ),
    xscale="symlog",
    names={"simple": NAMES, "mixed": MIXED},
    of=lambda ds: with_axes(ds, AXES),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both are learned; with a line two directions are enough, without they are not."""
    last, rows = ds.isel(time=-1), []
    for slabs in sorted({2, 5, *np.ravel(ds["simple"]).tolist()}):
        band = (-0.02, 0.02) if slabs == 2 else (0.05, 0.5)
        score = at(last["scores"], "simple", slabs).sel(score="accuracy")
        clean, outside = (score.sel(mixed=k) for k in ("nothing", "outside"))
        text = f"{NAMES[slabs]}: test accuracy"
        rows.append(mean_of(text, clean, (0.9, 1), "ours: learned"))
        text = f"{NAMES[slabs]}: accuracy lost by P x + P⊥x′"
        rows.append(difference_of(text, clean, outside, band, "ours"))
    five, line = (at(last["rank"], "simple", slabs) for slabs in (5, 2))
    text = "effective rank, five slabs less linear"
    rows.append(difference_of(text, five, line, (1, 10), "ours"))
    return Claims(needs={"n ≥ 1000": int(ds["n"]) >= 1000}).rows(*rows)
