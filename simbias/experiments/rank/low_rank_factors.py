"""Linear factors: layers as products of linear ones; same functions, lower rank.

Every layer of a small convolutional network is replaced by F linear layers, whose
product is one layer again.  So the functions that the network can express are the same
for every F.  With more factors the layers have a lower effective rank: at
initialisation, because products of random matrices are ill conditioned, and after
training.  The experiment also tests whether this improves the test accuracy.

There are two controls.  With F = 1 the network is the original one.  With orthogonal
further factors every layer keeps its singular values at initialisation exactly.

Reference: Huh et al. (2023), arXiv:2103.10427, where images are CIFAR and ImageNet;
their numbers could not be read, images and sizes are ours.
"""

import functools
from typing import get_args

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import Claim, Dataset, Experiment, Index
from simbias.datasets.vision.images import CLASSES, SHAPE, Source, images
from simbias.experiment_presets import presets
from simbias.experiments._times import after_steps
from simbias.experiments.rank._depth import HUH, ends
from simbias.experiments.rank._factored import Factored, Start, factored
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy, FeatureRank, FoldedRanks
from simbias.networks import convolutional
from simbias.validation.values import positive_integer

AXES = ("source", "start", "factors")
RATE, BATCH, STEPS = 2e-3, 25, 600
_TITLES = {"dead_leaves": "dead leaves"}


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "digits",
    start: Start = "gaussian",
    factors: Index = 1,
    most: int = 4,
    n: int = 200,
    n_test: int = 300,
    width: int = 8,
    data_dir: str = "",
) -> tuple[Dataset, Factored]:
    """Images with classes, and a convolutional network with F linear layers in each.

    Args:
        key: random key.
        source: name of the images, as for `simbias.datasets.vision.images`.
        start: law of the further factors, "gaussian" or "orthogonal".
        factors: F, number of linear layers in each layer, 1 to `most`.
        most: the largest F; as many factors are drawn.
        n: training images.
        n_test: test images.
        width: w; there are w and 2w channels and 4w neurons.
        data_dir: folder with the files of MNIST or CIFAR-10.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
    """
    positive_integer("width", width)
    key_data, key_core, key_factors = jax.random.split(key, 3)
    data = images(key_data, n=n, n_test=n_test, source=source, data_dir=data_dir)
    core = convolutional(
        key_core,
        image=SHAPE[source],
        k=CLASSES[source],
        channels=(width, 2 * width),
        p=4 * width,
    )
    return data, factored(key_factors, core, factors=factors, most=most, start=start)


experiment = presets(
    Experiment(
        name="low_rank_factors",
        make=make,
        cell={"source": "digits", "start": get_args(Start), "factors": (1, 2, 4)},
        seeds=8,
        shared=("source", "start", "factors"),
        flow=Descent(rate=RATE, optimiser="adam", batch=BATCH),
        loss=cross_entropy,
        times=after_steps(RATE, 0, 200, STEPS),
        measures={
            "ranks": FoldedRanks(),
            "feature_rank": FeatureRank(),
            "accuracy": ClassAccuracy(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {
            "source": "digits",
            "factors": (1, 2),
            "most": 2,
            "n": 40,
            "n_test": 20,
            "width": 2,
        },
        "seeds": 6,
        "times": after_steps(RATE, 0, 60),
    },
    paper={
        "cell": {
            "source": "cifar10",
            "factors": (1, 2, 4, 8),
            "most": 8,
            "n": 50_000,
            "n_test": 10_000,
            "width": 64,
        },
        "seeds": 20,
        "times": after_steps(RATE, 0, 1000, 10_000, 100_000),
    },
)


by_factors = functools.partial(
    Curves, colour="start", mark="o", ticks=True, ylim=(0, None)
)
layers = lambda when: lambda part: part["ranks"].sel(time=when).mean("layer")
figure = Panels(
    by_factors(layers("start"), title="layers, −Σ p ln p, start"),
    by_factors(layers("trained"), title="layers, trained"),
    by_factors("feature_rank", line="time", title="features; dashed: at the start"),
    by_factors(
        lambda part: 1 - part["accuracy"].sel(time="trained", sample=["test", "train"]),
        line="sample",
        title="error; dashed: on the sample",
    ),
    rows="source",
    of=ends,
    x="factors",
    xlabel="linear layers in each, F",
    xscale="log",
    names={
        "source": _TITLES,
        "start": {name: f"{name} factors" for name in get_args(Start)},
        "time": {"trained": "", "start": "at the start"},
        "sample": {"test": "", "train": "on the sample"},
    },
    size=(3.5, 3.3),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Slopes in ln F of the ranks; the test error."""
    is_long = float(ds["time"][-1]) >= RATE * (STEPS - 0.5)
    trained = Claims(needs={f"{STEPS} steps": is_long})
    out = []
    for kind in ds["source"].values:
        for start in ds["start"].values:
            part = ds.sel(source=kind, start=start)
            name = f"{_TITLES.get(str(kind), str(kind))}, {start} factors"
            # Orthogonal factors keep the singular values of the start.
            if start != "orthogonal":
                out += _falls(part.isel(time=0), f"{name}, start")
            part = part.isel(time=-1)
            out += trained.rows(*_falls(part, f"{name}, trained"), *_tested(part, name))
    several = ds.sizes["factors"] > 1 and int(ds["factors"][0]) == 1
    return Claims(needs={"F = 1 and more": several}).rows(*out)


def _falls(part: xr.Dataset, name: str) -> list[Claim]:
    """Ranks of layers and of features fall with F."""
    ranks = {"layers": part["ranks"].mean("layer"), "features": part["feature_rank"]}
    text = f"{name}: slope of −Σ p ln p of {{}} in ln F"
    source = f"{HUH}; of such networks: ours"
    return [
        mean_of(text.format(of), slope_in_log(rank, "factors"), (-np.inf, 0), source)
        for of, rank in ranks.items()
    ]


def _tested(part: xr.Dataset, name: str) -> list[Claim]:
    """All networks fit the training sample; the difference on the test sample."""
    train, test = (
        part["accuracy"].sel(sample=sample, drop=True) for sample in ("train", "test")
    )
    fits = f"{name}: accuracy on the sample, least of all networks"
    alike = "ours: what is compared fits alike"
    better = f"{name}: test accuracy, F = {int(part['factors'][-1])} less F = 1"
    most, one = test.isel(factors=-1), test.isel(factors=0)
    source = f"{HUH}: slightly better, of CIFAR and ImageNet"
    return [
        smallest_of(fits, train, (0.95, 1), alike),
        difference_of(better, most, one, (0, 1), source),
    ]
