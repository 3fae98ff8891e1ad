"""A network from a small start looks at one direction of its inputs, a lazy one at all.

Of fifty coordinates that are independent given the label one is linear, the others have
five slabs; all tell the class.  In the rich regime the first layer becomes of low rank
and f depends on its main directions P alone: with P⊥x taken from another sample the
labels stay, with Px they are lost.  In the lazy regime, the control, the layer keeps
the rank it was drawn with, and P is not what f depends on.

f = h(θ)/λ with weights of size λ: all λ have the same tangent kernel at the start, and
so the same clock; a small λ is rich, a large one lazy.  Neurons come in pairs of
opposite sign, so that f = 0 at the start.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457; start and scale
of Chizat & Bach (2019), arXiv:1812.07956; sizes are ours.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.checks.values import positive, positive_integer
from simbias.claims import Claims, farthest_of, largest_of, mean_of, smallest_of
from simbias.core import (
    AbstractNetwork,
    Buffer,
    Claim,
    Dataset,
    Experiment,
    Index,
    Real,
)
from simbias.datasets.shortcuts.slabs import Slabs, slabs
from simbias.errors import BadInput
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import ProjectedScores, TrainAccuracy, WeightRank
from simbias.presets import presets

AXES = ("scale",)
PAPER = "Morwani et al. (2023), arXiv:2302.00457 (?)"
RATE = 0.2
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
    draw: Index = 0,
) -> tuple[Dataset, AbstractNetwork]:
    """Sample number `draw`, and a network of pairs of neurons that cancel.

    Args:
        key: random key, of the network.
        scale: λ, rich if small, lazy if large.
        simple: slabs of the first coordinate; 2 is the linear one.
        others: slabs of all coordinates but the first.
        n: samples.
        d: coordinates, 3 or more: two are the directions of P.
        m: neurons, an even number.
        n_test: test samples.
        draw: number of the sample.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
    """
    data = slabs(
        jax.random.key(draw),
        n=n,
        d=d,
        simple=simple,
        others=others,
        n_test=n_test,
    )
    return data, paired(key, d=d, m=m, scale=scale)


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
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(12.5 * 2**k for k in range(5))),
        measures={
            "scores": ProjectedScores(rank=RANK),
            "rank": WeightRank(is_squared=True),
            "train_accuracy": TrainAccuracy(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {"n": 100, "d": 8, "m": 8, "n_test": 100},
        "seeds": 6,
        "times": (0.0, 12.5),
    },
    paper={"cell": {"d": 50, "n": 10_000, "m": 1000}, "seeds": 50},
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
NAMES = {"scale": "λ", "mixed": MIXED}
RANKS = Curves("rank", colour="scale", mark="o", xscale="symlog", xlabel="time")
figure = Panels(
    dataclasses.replace(RANKS, title="effective rank of W (σ²)"),
    scores("accuracy", title="test accuracy, label of x", laws=(CHANCE,)),
    scores("logit_change", title="change of the logits over ‖f‖"),
    names=NAMES,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rich: low rank, P tells all; lazy, the control: the rank of the start."""
    found, last = [], ds.isel(time=-1)
    learned = Claims(needs={"n ≥ 1000": int(ds["n"]) >= 1000})
    for scale in ds["scale"].values:
        found += claims_at(ds.sel(scale=scale), float(scale), RANK)
        clean = last.sel(scale=scale)["scores"].sel(score="accuracy", mixed="nothing")
        text = f"λ = {scale:g}: test accuracy, least"
        found += learned.rows(smallest_of(text, clean, (0.95, 1), "ours: learned"))
    return found


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
