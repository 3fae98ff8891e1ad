"""Low-dimensional inputs: one direction from a small start, all in the lazy regime.

Each of fifty coordinates determines the class, and they are independent given the
label.  One is linear, the others have five slabs.  In the rich regime the first layer
becomes of low rank, and f depends on its main directions P alone.  If P⊥x is taken from
another sample, the labels stay the same; if Px is, they become random.  In the lazy
regime, the control, the layer keeps its initial rank, and f does not depend on P alone.

f = h(θ)/λ has weights of size λ.  All λ have the same initial tangent kernel, and so
the same time scale; a small λ is rich, a large one lazy.  Neurons come in pairs of
opposite sign, so that f = 0 at the start.

The variant `five_slabs` is another control.  It compares a law in which all coordinates
have five slabs with the law that has one linear coordinate.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457; start and scale
of Chizat & Bach (2019), arXiv:1812.07956; law of Shah et al. (2020), arXiv:2006.07710;
sizes and the variant are ours.
"""

import dataclasses

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.shortcuts.slabs import Slabs, slabs
from simbias.experiment_presets import presets
from simbias.experiments.shortcuts._low_dim import (
    CHANCE,
    LAZY,
    NAMES,
    RANK,
    RANKS,
    RICH,
    SIMPLE,
    claims_at,
    paired,
    scores,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import ProjectedScores, TrainSignAccuracy, WeightRank

AXES = ("scale", "simple")
RATE = 0.2
# Time by which five slabs are learned.
LONG = 800.0


def make(
    key: PRNGKeyArray,
    *,
    scale: Real = RICH,
    simple: Slabs = 2,
    others: Slabs = 5,
    n: int = 1000,
    d: int = 50,
    m: int = 32,
    n_test: int = 1000,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, and a network of pairs of neurons that cancel.

    Args:
        key: random key of the sample and of the network.
        scale: λ, rich if small, lazy if large.
        simple: slabs of the first coordinate; 2 is the linear one.
        others: slabs of all coordinates but the first.
        n: samples.
        d: coordinates, 3 or more: two are the directions of P.
        m: neurons, an even number.
        n_test: test samples.
    """
    key_data, key_network = jax.random.split(key)
    data = slabs(key_data, n=n, d=d, simple=simple, others=others, n_test=n_test)
    return data, paired(key_network, d=d, m=m, scale=scale)


experiment = presets(
    Experiment(
        name="low_dim_inputs",
        make=make,
        cell={"scale": (RICH, 0.1, 1.0, LAZY)},
        seeds=20,
        shared=AXES,
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(12.5 * 2**k for k in range(5))),
        measures={
            "scores": ProjectedScores(rank=RANK),
            "rank": WeightRank(is_squared=True),
            "train_accuracy": TrainSignAccuracy(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {"n": 100, "d": 8, "m": 8, "n_test": 100},
        "seeds": 6,
        "times": (0.0, 12.5),
    },
    paper={"cell": {"d": 50, "n": 10_000, "m": 1000}, "seeds": 50},
    five_slabs={
        "cell": {"simple": (2, 5), "d": 10, "scale": 0.1},
        "times": (0.0, *(12.5 * 2**k for k in range(7))),
    },
    five_slabs_smoke={"cell": {"d": 4}, "times": (0.0, 400.0, 800.0)},
)


_of_scales = Panels(
    dataclasses.replace(RANKS, title="effective rank of W (σ²)"),
    scores("accuracy", title="test accuracy, label of x", laws=(CHANCE,)),
    scores("logit_change", title="change of the logits over ‖f‖"),
    names=NAMES,
    of=lambda ds: ds.isel(simple=0),
)
_of_laws = Panels(
    Curves(
        "rank",
        colour="simple",
        line="scale",
        mark="o",
        title="effective rank of W (σ²)",
    ),
    Curves(
        lambda part: part["scores"].sel(score="accuracy"),
        colour="mixed",
        line="scale",
        mark="o",
        first_colour=2,
        facet="simple",
        xlim=(-0.2, 1.5 * LONG),
        ylim=(0.4, 1.03),
        title="test accuracy",
        laws=(CHANCE,),
    ),
    xscale="symlog",
    names=NAMES,
)


def figure(ds: xr.Dataset) -> Figure:
    """Against λ; for several laws against time."""
    return (_of_laws if ds.sizes["simple"] > 1 else _of_scales)(ds)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Claims on the regimes; for several laws, on their differences."""
    if ds.sizes["simple"] == 1:
        return _claims_of_scales(ds.isel(simple=0))
    several = ds.sizes["scale"] > 1
    return [
        dataclasses.replace(claim, statement=f"{claim.statement}, λ = {scale:g}")
        if several
        else claim
        for scale in ds["scale"].values
        for claim in _claims_of_laws(ds.sel(scale=scale))
    ]


def _claims_of_scales(ds: xr.Dataset) -> list[Claim]:
    """Rich: low rank, P determines the label; lazy, the control: the initial rank."""
    found, last = [], ds.isel(time=-1)
    learned = Claims(needs={"n ≥ 1000": int(ds["n"]) >= 1000})
    for scale in ds["scale"].values:
        found += claims_at(ds.sel(scale=scale), float(scale), RANK)
        clean = last.sel(scale=scale)["scores"].sel(score="accuracy", mixed="nothing")
        text = f"λ = {scale:g}: test accuracy, least"
        found += learned.rows(smallest_of(text, clean, (0.95, 1), "ours: learned"))
    return found


def _claims_of_laws(ds: xr.Dataset) -> list[Claim]:
    """Both are learned; two directions are enough only with a linear coordinate."""
    last, rows = ds.isel(time=-1), []
    for simple in sorted({2, 5, *ds["simple"].values.tolist()}):
        band = (-0.02, 0.02) if simple == 2 else (0.05, 0.5)
        score = at(last["scores"], "simple", simple).sel(score="accuracy")
        clean, outside = (score.sel(mixed=k) for k in ("nothing", "outside"))
        text = f"{SIMPLE[simple]}: test accuracy"
        rows.append(mean_of(text, clean, (0.9, 1), "ours: learned"))
        text = f"{SIMPLE[simple]}: accuracy lost by P x + P⊥x′"
        rows.append(difference_of(text, clean, outside, band, "ours"))
    five, line = (at(last["rank"], "simple", k) for k in (5, 2))
    text = "effective rank, five slabs less linear"
    rows.append(difference_of(text, five, line, (1, 10), "ours"))
    is_long, n = float(ds["time"][-1]) >= LONG, int(ds["n"])
    return Claims(needs={f"t ≥ {LONG:g}": is_long, "n ≥ 1000": n >= 1000}).rows(*rows)
