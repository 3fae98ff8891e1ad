"""Low-dimensional inputs, dominoes: directions that a network uses, and a second one.

The inputs are images of two blocks of the same class: a digit that a linear classifier
recognises, and a noisy grating that it does not.  P projects on the two main directions
of the first layer.  In the rich regime f depends on P alone.  In the lazy regime, the
control, the layer keeps its rank.  The other control has independent blocks and the
label of the grating.  There two directions are not enough, and four are: sine and
cosine of two gratings.

As in `low_dim_pair`, a second network is trained on P⊥x.  It learns from the remaining
features, such as the grating, and makes other errors.  The pair is more robust to noise
than two networks trained on the same inputs.

By default no files are needed; `--cell.source mnist_cifar10 --cell.data-dir FOLDER` is
MNIST above CIFAR-10.

Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, of MNIST–CIFAR;
dominoes of Shah et al. (2020), arXiv:2006.07710; textures, sizes and noise are ours.
"""

import dataclasses
from collections.abc import Callable

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, difference_of, largest_of, smallest_of
from simbias.core import Claim, Dataset, Experiment, Real
from simbias.datasets.vision.dominoes import Source, dominoes
from simbias.experiment_presets import presets
from simbias.experiments.shortcuts._low_dim import (
    CHANCE,
    NAMES,
    RANK,
    RANKS,
    RICH,
    claims_at,
    scores,
)
from simbias.experiments.shortcuts._low_dim_pairs import (
    GIVEN,
    STEPS,
    Pairs,
    claims_of_pairs,
    pair_scores,
    pairs_on,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.introspection.outputs import second_sample
from simbias.losses import logistic
from simbias.measures import PairScores, ProjectedScores, WeightRank

AXES = ("correlation", "scale")
RATE = 0.01
# Sine and cosine of two gratings; and what we call few directions.
GRATINGS, FEW = 4, 5
# λ at which the gratings alone are learned, and pairs are looked at.
MIDDLE = 0.1
# Deviations of a pixel.
BLURS, COMPARED = (0.0, 0.5, 1.0, 2.0, 4.0), (1.0, 2.0)


def make(
    key: PRNGKeyArray,
    *,
    correlation: Real = 1.0,
    scale: Real = RICH,
    noise: Real = 1.0,
    n: int = 500,
    m: int = 32,
    n_test: int = 1000,
    source: Source = "digits",
    data_dir: str = "",
) -> tuple[Dataset, Pairs]:
    """Dominoes of two classes, with their labels twice; and three networks.

    Args:
        key: random key of the sample and of the networks.
        correlation: probability that the digit has the class of the lower block.
        scale: λ of all networks, rich if small, lazy if large.
        noise: σ of the textures, relative to the grating; of "digits" only.
        n: samples.
        m: neurons of each network, even.
        n_test: test samples.
        source: name of the dataset.
        data_dir: folder that holds the files of the images; nothing is downloaded.

    Raises:
        ValueError: for a size or number out of range, or files that are not there.
    """
    key_data, key_networks = jax.random.split(key)
    data = dominoes(
        key_data,
        n=n,
        n_test=n_test,
        classes=2,
        correlation=correlation,
        source=source,
        noise=noise,
        data_dir=data_dir,
    )
    data = dataclasses.replace(_signed(data), test=_signed(second_sample(data)))
    return pairs_on(data, key_networks, m=m, scale=scale, rate=RATE)


def _signed(part: Dataset) -> Dataset:
    """The same with the label +1 for the second class and −1 for the first."""
    y = part.y[:, 1:] - part.y[:, :1]
    return dataclasses.replace(part, y=y, mean=y)


experiment = presets(
    Experiment(
        name="low_dim_dominoes",
        make=make,
        cell={"correlation": (0.5, 1.0), "scale": (RICH, MIDDLE, 10.0)},
        seeds=20,
        shared=AXES,
        flow=Descent(rate=RATE),
        loss=logistic,
        times=(0.0, *(STEPS * RATE / 2**k for k in range(4, -1, -1))),
        measures={
            "scores": ProjectedScores(rank=RANK, part="same"),
            "scores_of_four": ProjectedScores(rank=GRATINGS, part="same"),
            "rank": WeightRank(layer="same.w", is_squared=True),
        },
        final={"pairs": PairScores(GIVEN, BLURS)},
        dtype="float32",
    ),
    smoke={
        "cell": {"correlation": 1.0, "scale": (RICH, 10.0), "n": 50, "n_test": 50},
        "seeds": 2,
        "times": (0.0, 0.5),
    },
    paper={"cell": {"source": "mnist_cifar10", "n": 10_000, "n_test": 2000, "m": 1000}},
)


free = lambda ds: ds.isel(correlation=0)
same = lambda ds: ds.isel(correlation=-1)
middle = lambda ds: same(ds).sel(scale=MIDDLE, method="nearest")


def _accuracy(rank: int, of: Callable[[xr.Dataset], xr.Dataset]) -> Curves:
    title = f"test accuracy, ρ = {{correlation:g}}, P of rank {rank}"
    return scores("accuracy", of=of, title=title, ylim=(0.4, 1.03), laws=(CHANCE,))


figure = Panels(
    dataclasses.replace(
        RANKS, of=same, title="effective rank of W (σ²), ρ = {correlation:g}"
    ),
    _accuracy(RANK, same),
    _accuracy(RANK, free),
    _accuracy(GRATINGS, lambda ds: free(ds.assign(scores=ds["scores_of_four"]))),
    pair_scores(
        "pair",
        of=middle,
        first_colour=1,
        title="accuracy of the pair, λ = {scale:g}, ρ = {correlation:g}",
    ),
    pair_scores(
        "shared",
        of=middle,
        first_colour=1,
        title="errors of the first, shared",
        ylim=(-0.03, 1.03),
    ),
    names={k: NAMES[k] for k in ("scale", "mixed")},
    across=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Few directions if the digit has the class, four if not; the rest is learned."""
    out = []
    for rho in ds["correlation"].values:
        for scale in ds["scale"].values:
            part = ds.sel(correlation=rho, scale=scale)
            if rho == 1:
                out += claims_at(part, float(scale), FEW) + _of_pairs(part)
            elif rho == 0.5 and scale == MIDDLE:
                out += _of_gratings(part.isel(time=-1))
    late = float(ds["time"][-1]) >= STEPS * RATE and int(ds["n"]) >= 500
    return Claims({f"t ≥ {STEPS * RATE:g}, n ≥ 500": late}).rows(*out)


def _of_pairs(part: xr.Dataset) -> list[Claim]:
    """For one λ whether all is learned, and for the middle λ the gain of the pair."""
    clean = part["scores"].isel(time=-1).sel(score="accuracy", mixed="nothing")
    is_middle = float(part["scale"]) == MIDDLE
    pairs = claims_of_pairs(part["pairs"], COMPARED) if is_middle else []
    return Claims(where=f"λ = {float(part['scale']):g}").rows(
        smallest_of("test accuracy, least", clean, (0.95, 1), "ours: learned"), *pairs
    )


def _of_gratings(last: xr.Dataset) -> list[Claim]:
    """The digit has no information: two directions for each of two gratings."""
    two, four = (last[k].sel(score="accuracy") for k in ("scores", "scores_of_four"))
    clean, outside = (two.sel(mixed=k) for k in ("nothing", "outside"))
    lost, band = clean - four.sel(mixed="outside"), (-0.02, 0.02)
    text = "accuracy lost by P x + P⊥x′, P of rank"
    return Claims(where=f"control, ρ = 0.5, λ = {MIDDLE:g}").rows(
        smallest_of("test accuracy, least", clean, (0.95, 1), "ours: learned"),
        difference_of(f"{text} 2", clean, outside, (0.05, 0.5), "ours"),
        largest_of(f"{text} 4, most", lost, band, "derived; band ours"),
    )
