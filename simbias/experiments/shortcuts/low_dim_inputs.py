"""Low-dimensional inputs: one direction from a small start, all in the lazy regime.

Of fifty coordinates that are independent given the label one is linear, the others have
five slabs; all tell the class.  In the rich regime the first layer becomes of low rank
and f depends on its main directions P alone: with P⊥x taken from another sample the
labels stay, with Px they are lost.  In the lazy regime, the control, the layer keeps
the rank it was drawn with, and P is not what f depends on.

f = h(θ)/λ with weights of size λ: all λ have the same tangent kernel at the start, and
so the same clock; a small λ is rich, a large one lazy.  Neurons come in pairs of
opposite sign, so that f = 0 at the start.

The variant `five_slabs` is another control: coordinates that all have five slabs, none
of which a line tells apart, beside the law with one linear coordinate.  Both are
learned from a small start.  With the linear coordinate two directions of the first
layer carry every label; without it W keeps most of its rank, and with all but its two
main directions exchanged a third of what was gained is lost.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457; start and scale
of Chizat & Bach (2019), arXiv:1812.07956; law of Shah et al. (2020), arXiv:2006.07710;
sizes and the variant are ours.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.at import at
from simbias.claims import (
    Claims,
    difference_of,
    farthest_of,
    largest_of,
    mean_of,
    smallest_of,
)
from simbias.core import AbstractNetwork, Buffer, Claim, Dataset, Experiment, Real
from simbias.datasets.shortcuts.slabs import Slabs, slabs
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import ProjectedScores, TrainSignAccuracy, WeightRank
from simbias.validation.values import positive, positive_integer

AXES = ("scale", "simple")
PAPER = "Morwani et al. (2023), arXiv:2302.00457 (?)"
RATE = 0.2
# Time by which five slabs are learned.
LONG = 800.0
# Directions of P.
RANK = 2
RICH, LAZY = 0.01, 10.0
# What is exchanged, for labels.
MIXED = {"nothing": "x", "inside": "P x′ + P⊥x", "outside": "P x + P⊥x′"}


class Paired(AbstractNetwork):
    """f(x) = (1/λ) Σⱼ aⱼ relu(wⱼ·x), λ not trained."""

    w: Float[Array, "m d"]
    a: Float[Array, " m"]
    scale: Buffer

    @property
    def has_kinks(self) -> bool:
        """True: those of ReLU."""
        return True

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output for one input."""
        return (self.a @ jax.nn.relu(self.w @ x) / self.scale.value)[None]


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
        key: of the sample and of the network.
        scale: λ, rich if small, lazy if large.
        simple: slabs of the first coordinate; 2 is the linear one.
        others: slabs of all coordinates but the first.
        n: samples.
        d: coordinates, 3 or more: two are the directions of P.
        m: neurons, an even number.
        n_test: test samples.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
    """
    key_data, key_network = jax.random.split(key)
    data = slabs(key_data, n=n, d=d, simple=simple, others=others, n_test=n_test)
    return data, paired(key_network, d=d, m=m, scale=scale)


def paired(key: PRNGKeyArray, *, d: int, m: int, scale: Real) -> Paired:
    """Weights of size λ in pairs of opposite sign, so that f = 0.

    Raises:
        ValueError: for a size or a scale that is not positive, an odd m, or inputs of
            which P would leave nothing.
    """
    positive_integer("d", d)
    if d <= RANK:
        raise BadInput(
            f"`d` must be above {RANK}, the directions of P, got {d}: of fewer inputs "
            "nothing is outside of P. Example: d=10."
        )
    positive_integer("m", m)
    positive("scale", scale)
    if m % 2:
        raise BadInput(f"`m` must be even, got {m}: neurons come in pairs.")
    z = jax.random.normal(key, (m // 2, d + 1), jnp.float64)
    size = jnp.asarray(scale, jnp.float64)
    z = size * (2 / (m * d)) ** 0.25 * z
    w, a = z[:, :d], z[:, d]
    both = jnp.concatenate([w, w]), jnp.concatenate([a, -a])
    return Paired(*both, Buffer(size))


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


def scores(score: str, **options: Any) -> Curves:
    """Of `ProjectedScores` at the end against λ, by what was exchanged."""

    def at_the_end(part: xr.Dataset) -> xr.DataArray:
        seen = part["scores"].isel(time=-1).sel(score=score)
        # Without an exchange no logit changes; NaN is not drawn.
        is_shown = (score == "accuracy") | (seen["mixed"] != "nothing")
        return seen.where(is_shown)

    kind = Curves(at_the_end, colour="mixed", mark="o", first=4, x="scale", xlabel="λ")
    return dataclasses.replace(kind, xscale="log", **options)


CHANCE = Law(0.5, "chance", ":")
SIMPLE = {k: f"all of {k} slabs" for k in (3, 5, 7)} | {2: "a linear coordinate"}
NAMES = {"scale": "λ", "mixed": MIXED, "simple": SIMPLE}
RANKS = Curves("rank", colour="scale", mark="o", xscale="symlog", xlabel="time")
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
        first=2,
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
    """Against λ; of several laws against time."""
    return (_of_laws if ds.sizes["simple"] > 1 else _of_scales)(ds)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Of the regimes; of several laws, how they differ."""
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
    """Rich: low rank, P tells all; lazy, the control: the rank of the start."""
    found, last = [], ds.isel(time=-1)
    learned = Claims(needs={"n ≥ 1000": int(ds["n"]) >= 1000})
    for scale in ds["scale"].values:
        found += claims_at(ds.sel(scale=scale), float(scale), RANK)
        clean = last.sel(scale=scale)["scores"].sel(score="accuracy", mixed="nothing")
        text = f"λ = {scale:g}: test accuracy, least"
        found += learned.rows(smallest_of(text, clean, (0.95, 1), "ours: learned"))
    return found


def _claims_of_laws(ds: xr.Dataset) -> list[Claim]:
    """Both are learned; with a line two directions are enough, without they are not."""
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


def claims_at(part: xr.Dataset, scale: float, few: int) -> list[Claim]:
    """What a rich or a lazy λ says; of one in between, nothing.

    Args:
        part: of one λ: `scores`, of `ProjectedScores`, and `rank` of its first layer.
        scale: λ.
        few: the largest effective rank of a rich network.
    """
    last, at = part.isel(time=-1), f"λ = {scale:g}"
    score = last["scores"].sel(score="accuracy")
    clean, inside, outside = (score.sel(mixed=k) for k in MIXED)
    if scale <= RICH:
        text = f"{at}: effective rank of W, largest"
        lost = f"{at}: accuracy lost by P x + P⊥x′, farthest from 0"
        rank = PAPER if few == RANK else f"{PAPER}: few; up to {few} ours"
        return [
            largest_of(text, last["rank"], (1, few), rank),
            farthest_of(lost, clean - outside, 0, (-0.02, 0.02), PAPER),
            mean_of(f"{at}: accuracy of P x′ + P⊥x", inside, (0.45, 0.55), PAPER),
            mean_of(
                f"{at}: change of the logits, P x + P⊥x′",
                last["scores"].sel(score="logit_change", mixed="outside"),
                (0, 0.2),
                f"{PAPER}; band ours",
            ),
        ]
    if scale >= LAZY:
        ratio = last["rank"] / part["rank"].isel(time=0)
        return [
            mean_of(f"control, {at}: rank over the start", ratio, (0.9, 1.1), PAPER),
            mean_of(f"control, {at}: accuracy of P x′ + P⊥x", inside, (0.6, 1), "ours"),
        ]
    return []
