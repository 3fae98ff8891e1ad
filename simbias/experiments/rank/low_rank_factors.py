"""Layers that are products of linear ones: the same functions, of lower rank.

Every layer of a small convolutional network is replaced by F linear layers after each
other, which can be multiplied out into one: what the network can express is the same
for every F.  More factors lower the effective rank of the layers that they make up, at
the start, where products of random matrices are ill conditioned, and after training.
Whether the classes of images that were not seen are told better for that is asked, too.

Controls: with F = 1 it is the network itself; and further factors that are orthogonal
keep the singular values of every layer at the start, exactly.

Reference: Huh et al. (2023), arXiv:2103.10427, where images are CIFAR and ImageNet;
their numbers could not be read, images and sizes are ours.
"""

from typing import get_args

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.values import positive_integer
from simbias.claims import difference_of, mean_of, smallest_of
from simbias.core import Claim, Dataset, Experiment, Index
from simbias.datasets.vision.images import SHAPE, Source, images
from simbias.experiments.rank._factored import (
    Factored,
    FoldedRanks,
    Start,
    factored,
)
from simbias.experiments.rank.low_rank_embeddings import HUH, slope_in_log
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy
from simbias.measures.rank.feature_rank import FeatureRank
from simbias.measures.risk.class_accuracy import ClassAccuracy
from simbias.networks.convolution.convolutional import convolutional
from simbias.presets import presets

AXES = ("source", "start", "factors")
RATE, BATCH, STEPS = 2e-3, 25, 600
_CLASSES = {"digits": 10, "mnist": 10, "cifar10": 10, "dead_leaves": 3}
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
    """Images in their classes, and a network of two convolutions whose layers are F.

    Args:
        key: of the images and of the start.
        source: of the images, as for `simbias.datasets.vision.images`.
        start: of the further factors, "gaussian" or "orthogonal".
        factors: F, linear layers in each, 1 to `most`.
        most: factors that are drawn, the largest F.
        n: images to train.
        n_test: of the test sample.
        width: w; w and 2w channels, 4w neurons.
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
        k=_CLASSES[source],
        channels=(width, 2 * width),
        p=4 * width,
    )
    return data, factored(key_factors, core, factors=factors, most=most, start=start)


def _times(*steps: int) -> tuple[float, ...]:
    return tuple(RATE * step for step in steps)


experiment = presets(
    Experiment(
        name="low_rank_factors",
        make=make,
        cell={"source": "digits", "start": get_args(Start), "factors": (1, 2, 4)},
        seeds=8,
        shared=("source", "start", "factors"),
        flow=Descent(rate=RATE, optimiser="adam", batch=BATCH),
        loss=cross_entropy,
        times=_times(0, 200, STEPS),
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
        "times": _times(0, 60),
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
        "times": _times(0, 1000, 10_000, 100_000),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Against F: ranks of layers and features, and the error; a row per source."""
    ds = with_axes(ds, AXES)
    kinds = [str(v) for v in ds["source"].values]
    starts = [str(v) for v in ds["start"].values]
    with style():
        whole = blank(14.0, 3.3 * len(kinds))
        rows = whole.subplots(len(kinds), 4, squeeze=False)
        for row, kind in zip(rows, kinds, strict=True):
            part = ds.sel(source=kind)
            for start, colour in zip(starts, COLOURS, strict=False):
                _row(row, part.sel(start=start), start, colour)
            title = _TITLES.get(kind, kind)
            row[0].set_title(f"{title}: layers, −Σ p ln p, start")
            row[1].set_title("layers, trained")
            row[2].set_title("features; dotted: at the start")
            row[3].set_title("error; dotted: on the sample")
            for axes in row:
                x = part["factors"].values
                axes.set(xscale="log", xlabel="linear layers in each, F")
                axes.set_xticks(x, [f"{v:d}" for v in x])
                axes.minorticks_off()
                axes.set_ylim(0, None)
        rows[0, 0].legend()
    return whole


def _row(row: np.ndarray, part: xr.Dataset, start: str, colour: str) -> None:
    x, mark = part["factors"], {"colour": colour, "ms": 4}
    ranks = part["ranks"].mean("layer")
    band(row[0], x, ranks.isel(time=0), "o-", label=f"{start} factors", **mark)
    band(row[1], x, ranks.isel(time=-1), "o-", **mark)
    for i, line in ((0, "o:"), (-1, "o-")):
        band(row[2], x, part["feature_rank"].isel(time=i), line, **mark)
    error = 1 - part["accuracy"].isel(time=-1)
    for sample, line in (("train", "o:"), ("test", "o-")):
        band(row[3], x, error.sel(sample=sample), line, **mark)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Slopes in ln F of the ranks; the test error."""
    ds = with_axes(ds, AXES)
    out = []
    for kind in ds["source"].values:
        for start in ds["start"].values:
            part = ds.sel(source=kind, start=start)
            # Orthogonal factors keep the singular values of the start.
            out += [] if str(start) == "orthogonal" else _falls(part, 0)
            out += _falls(part, -1)
            out += _tested(part)
    several = ds.sizes["factors"] > 1 and int(ds["factors"][0]) == 1
    return [claim.given(several, "F = 1 and more") for claim in out]


def _name(part: xr.Dataset) -> str:
    kind = str(part["source"].item())
    return f"{_TITLES.get(kind, kind)}, {part['start'].item()} factors"


def _falls(part: xr.Dataset, i: int) -> list[Claim]:
    when, out = ("start" if i == 0 else "trained"), []
    for name, of in (("layers", "ranks"), ("features", "feature_rank")):
        rank = part[of].isel(time=i)
        rank = rank.mean("layer") if of == "ranks" else rank
        text = f"{_name(part)}, {when}: slope of −Σ p ln p of {name} in ln F"
        slopes = slope_in_log(rank, "factors")
        claim = mean_of(text, slopes, (-np.inf, 0), f"{HUH}; of such networks: ours")
        out.append(claim.given(i == 0 or _is_long(part), f"{STEPS} steps"))
    return out


def _tested(part: xr.Dataset) -> list[Claim]:
    """That all fit, and who is better where nobody was trained."""
    train, test = (
        part["accuracy"].isel(time=-1).sel(sample=sample, drop=True)
        for sample in ("train", "test")
    )
    text = f"{_name(part)}: accuracy on the sample, least of all networks"
    fit = smallest_of(text, train, (0.95, 1), "ours: what is compared fits alike")
    many = int(part["factors"][-1])
    text = f"{_name(part)}: test accuracy, F = {many} less F = 1"
    source = f"{HUH}: slightly better, of CIFAR and ImageNet"
    claim = difference_of(
        text, test.isel(factors=-1), test.isel(factors=0), (0, 1), source
    )
    return [one.given(_is_long(part), f"{STEPS} steps") for one in (fit, claim)]


def _is_long(part: xr.Dataset) -> bool:
    return float(part["time"][-1]) >= RATE * (STEPS - 0.5)
