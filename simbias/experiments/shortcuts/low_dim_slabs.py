"""Without a linear coordinate a network looks at as many directions as there are.

The control of `low_dim_inputs`: the same networks on coordinates that all have five
slabs, none of which a line tells apart, beside the law with one linear coordinate.
Both are learned from a small start.  With the linear coordinate two directions of the
first layer carry every label; without it W keeps most of its rank, and with all but its
two main directions exchanged a third of what was gained is lost.

Reference: the control of Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, is
ours; law of Shah et al. (2020), arXiv:2006.07710.
"""

import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.claims import difference_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiments.shortcuts.low_dim_inputs import MIXED, RANK, RATE, make
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import logistic
from simbias.measures.randomised.projected_scores import ProjectedScores
from simbias.measures.rank.weight_rank import WeightRank
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


def figure(ds: xr.Dataset) -> Figure:
    """Effective rank and accuracies, with parts exchanged, along the way."""
    ds = with_axes(ds, AXES)
    laws = ds["simple"].values
    with style():
        whole = blank(4.0 * (len(laws) + 1), 3.8)
        rank, *panels = whole.subplots(1, len(laws) + 1)
        for slabs, axes, colour in zip(laws, panels, COLOURS, strict=False):
            part, name = ds.sel(simple=slabs), _name(int(slabs))
            band(rank, ds["time"], part["rank"], "o-", colour=colour, label=name)
            seen = part["scores"].sel(score="accuracy")
            for kind, line in zip(MIXED, COLOURS, strict=False):
                values, text = seen.sel(mixed=kind), MIXED[kind]
                band(axes, ds["time"], values, "o-", colour=line, label=text)
            law_level(axes, 0.5)
            axes.set(ylim=(0.4, 1.03))
            axes.set_title(f"test accuracy, {name}")
            axes.legend(loc="upper left")
        rank.set(title="effective rank of W (σ²)")
        rank.legend()
        late = float(ds["time"][-1])
        for axes in (rank, *panels):
            axes.set(xscale="symlog", xlabel="time", xlim=(-0.2, 1.5 * late))
    return whole


def _name(slabs: int) -> str:
    return "a linear coordinate" if slabs == 2 else f"all of {slabs} slabs"


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both are learned; with a line two directions are enough, without they are not."""
    ds = with_axes(ds, AXES)
    last, found = ds.isel(time=-1), []
    for slabs in ds["simple"].values:
        part, name = last.sel(simple=slabs), _name(int(slabs))
        score = part["scores"].sel(score="accuracy")
        clean, outside = score.sel(mixed="nothing"), score.sel(mixed="outside")
        found.append(
            mean_of(f"{name}: test accuracy", clean, (0.9, 1), "ours: learned")
        )
        low, high = (-0.02, 0.02) if slabs == 2 else (0.05, 0.5)
        text = f"{name}: accuracy lost by P x + P⊥x′"
        found.append(difference_of(text, clean, outside, (low, high), "ours"))
    if {2, 5} <= {*ds["simple"].values.tolist()}:
        five, line = last["rank"].sel(simple=5), last["rank"].sel(simple=2)
        text = "effective rank, five slabs less linear"
        found.append(difference_of(text, five, line, (1, 10), "ours"))
    return [c.given(int(ds["n"]) >= 1000, "n ≥ 1000") for c in found]
