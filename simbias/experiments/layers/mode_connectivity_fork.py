"""From which step on two networks of one start end in one valley, and when others do.

Two networks have the start and their first k steps in common; from then on each has
batches of its own.  On the line between them the error then has no barrier, if the fork
comes late enough: on digits already from the start.  Networks of two starts (`fork` −1)
do have one, which grows in training, and which an order of neurons takes away the
better the longer they have learned: that wide networks are one up to an order is made
by training, not by the law of the start.

A third network learns labels drawn at random: no order of its neurons makes it a
neighbour of the first.

Reference: Frankle, Dziugaite, Roy & Carbin (2020), arXiv:1912.05671; Ainsworth, Hayase
& Srinivasa (2023), arXiv:2209.04836.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.checks.values import positive_integer
from simbias.claims import difference_of, mean_of, smallest_of
from simbias.core import Claim, Dataset, Experiment, Index
from simbias.datasets.vision.images import Source, images
from simbias.experiments.layers._digits import CLASSES, ClassAccuracy, N, input_size
from simbias.experiments.layers._paths import Path, barrier
from simbias.experiments.layers._side_by_side import (
    SideBySide,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.networks.dense.mlp import mlp
from simbias.presets import presets

OURS = "ours"
FRANKLE = "LeNet on MNIST: Frankle et al. (2020), arXiv:1912.05671 (?)"
LATER = "Frankle et al. (2020), arXiv:1912.05671 (?)"
REBASIN = "Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836, of MNIST"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
# What the figure and the claims read.
AXES = ("fork",)
# With n = 1000 the clock counts epochs: ten steps of batches of 100.
RATE, BATCH = 0.1, 100
STEPS = 200
# In place of a step: two starts.
APART = -1
_WAYS = ("none", "activations")
_NAMES = ("as they are", "matched by activations")


def make(
    key: PRNGKeyArray,
    *,
    n: int = N,
    n_test: int = 597,
    m: int = 128,
    hidden: int = 2,
    fork: Index = 0,
    source: Source = "digits",
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, SideBySide]:
    """Two networks of one start up to step `fork`, or of two; and one of other labels.

    A `fork` of −1, or any below 0, stands for two starts.

    Args:
        key: random key.
        n: samples to train on.
        n_test: samples of the test set.
        m: neurons of each of them.
        hidden: hidden layers.
        fork: step up to which the two networks see the same batches.
        source: which data set.
        data_dir: folder that holds the files of the images; nothing is downloaded.
        verify: whether files of images are checked against their published digests.
    """
    positive_integer("m", m)
    positive_integer("hidden", hidden)
    key_data, key_labels, *keys = jax.random.split(key, 5)
    data = images(
        key_data, n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    test = data.test
    assert test is not None
    drawn = [
        _any_labels(k, y)
        for k, y in zip(jax.random.split(key_labels), (data.y, test.y), strict=True)
    ]
    data = with_targets(data, (data.y, test.y), (drawn[0], drawn[1]))
    widths = (input_size(source), *[m] * hidden, CLASSES)
    first, second, third = (mlp(k, widths) for k in keys)
    fork = jnp.asarray(fork, jnp.int32)
    second = jax.tree.map(lambda a, b: jnp.where(fork < 0, b, a), first, second)
    return data, side_by_side(first, second, third, fork=fork)


def _any_labels(key: PRNGKeyArray, y: Array) -> Array:
    drawn = jax.random.randint(key, (y.shape[0],), 0, CLASSES)
    return jax.nn.one_hot(drawn, CLASSES, dtype=y.dtype)


experiment = presets(
    Experiment(
        name="mode_connectivity_fork",
        make=make,
        cell={"m": 128, "fork": (APART, 0, 20, 80, STEPS)},
        seeds=20,
        flow=Descent(
            rate=RATE, batch=3 * BATCH, optimiser="momentum", sampling="replacement"
        ),
        loss=shared_cross_entropy,
        times=(0.0, 1.0, 2.0, 4.0, 20.0),
        measures={"accuracy": ClassAccuracy(), "path": Path(1, _WAYS)},
        final={"other_path": Path(2, _WAYS)},
        dtype="float32",
    ),
    smoke={
        "cell": {"n": 200, "n_test": 200, "m": 32, "fork": (APART, 0, STEPS)},
        "seeds": 2,
        "times": (0.0, 1.0, 20.0),
    },
    paper={
        "cell": {
            "m": 512,
            "hidden": 3,
            "n": 60_000,
            "n_test": 10_000,
            "source": "mnist",
            "fork": (APART, 0, 100, 1000, 4000, 12_000),
        },
        # 100 epochs of batches of 500.
        "flow": Descent(
            rate=RATE, batch=1500, optimiser="momentum", sampling="replacement"
        ),
        "times": (0.0, 6.0, 12.0, 24.0, 48.0, 120.0, 300.0, 1200.0),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Barriers by step of the fork, and over training; lines to another network."""
    end = barrier(ds["path"]).isel(time=-1).sel(sample="test", quantity="error")
    with style():
        whole = blank(12.0, 3.6)
        left, middle, right = whole.subplots(1, 3)
        _by_fork(left, end)
        first = int(ds["fork"][0])
        start = "two starts" if first < 0 else f"fork at {first}"
        _over_training(middle, ds.isel(fork=0), start)
        for i, way in enumerate(_WAYS):
            for name, what, line in (
                ("other_path", "other labels", "-"),
                ("path", "same labels", "--"),
            ):
                path = ds[name].isel(fork=0).sel(sample="test", quantity="error")
                path = path.isel(time=-1) if "time" in path.dims else path
                band(
                    right,
                    path["alpha"],
                    path.sel(matching=way),
                    line,
                    colour=COLOURS[2 * i],
                    label=f"{what}, {_NAMES[i]}",
                    alpha=0.12,
                )
        right.set_ylim(0, 1.55)
        right.legend(loc="upper left")
        right.set_xlabel("α, from the first network to the other")
        right.set_title(f"test error, {start}")
    return whole


def _by_fork(axes: Axes, end: xr.DataArray) -> None:
    places = np.arange(end.sizes["fork"])
    for i, (way, label) in enumerate(zip(_WAYS, _NAMES, strict=True)):
        values = end.sel(matching=way)
        band(axes, places, values, "o-", colour=COLOURS[2 * i], label=label, ms=4)
    law_level(axes, 0.02)
    names = ["two starts" if k < 0 else str(k) for k in end["fork"].values]
    axes.set_xticks(places, names)
    axes.set_xlabel("step of the fork")
    axes.set_title("barrier of the test error")
    axes.legend()


def _over_training(axes: Axes, apart: xr.Dataset, start: str) -> None:
    over = barrier(apart["path"]).sel(sample="test")
    places = np.arange(over.sizes["time"])
    for i, way in enumerate(_WAYS):
        for quantity, line in (("loss", "o-"), ("error", "o--")):
            values = over.sel(matching=way, quantity=quantity)
            label = f"{quantity}, {_NAMES[i]}"
            band(axes, places, values, line, colour=COLOURS[2 * i], label=label, ms=4)
    axes.set_xticks(places, [f"{t:g}" for t in over["time"].values])
    axes.set_xlabel("time (epochs, for n = 1000)")
    axes.set_title(f"{start}: barriers over training (test)")
    axes.legend()


def claims(ds: xr.Dataset) -> list[Claim]:
    """One valley from the start on; two starts are matched by training."""
    train = ds["accuracy"].isel(time=-1, network=slice(0, 2)).sel(sample="train")
    high, forks = barrier(ds["path"]), ds["fork"].values
    error = high.sel(sample="test", quantity="error", matching="none").isel(time=-1)
    out = [smallest_of("training accuracy, smallest", train, (0.99, 1.0), OURS)]
    if 0 in forks:
        text = "barrier of the test error, fork at the start"
        out.append(mean_of(text, error.sel(fork=0), (0.0, 0.02), FRANKLE))
    if APART in forks:
        out += _of_two_starts(ds.sel(fork=APART), high.sel(fork=APART))
        if 0 in forks:
            text = "barrier of the test error: two starts − one, fork at the start"
            one, other = (error.sel(fork=k) for k in (APART, 0))
            out.append(difference_of(text, one, other, (0.0, 1.0), LATER))
    forked = high.sel(sample="train", quantity="loss", matching="none")
    forked = forked.isel(time=-1, fork=forks >= 0)
    if forked.sizes["fork"] > 1:
        text = "barrier of the training loss: earliest fork − latest"
        early, late = (forked.isel(fork=k) for k in (0, -1))
        out.append(difference_of(text, early, late, (0.0, np.inf), LATER))
    return out


def _of_two_starts(apart: xr.Dataset, high: xr.DataArray) -> list[Claim]:
    loss = high.sel(sample="test", quantity="loss")
    naive, matched = (loss.sel(matching=way) for way in _WAYS)
    end = high.isel(time=-1).sel(sample="test", quantity="error")
    other = barrier(apart["other_path"]).sel(sample="test", quantity="error")
    same, no_help = (
        part.sel(matching="none") - part.sel(matching="activations")
        for part in (end, other)
    )
    first = int(np.argmax(naive["time"].values >= 1))
    text = "two starts: barrier of the test loss"
    return [
        difference_of(
            f"{text}, end − start",
            naive.isel(time=-1),
            naive.isel(time=0),
            (0.0, np.inf),
            REBASIN,
        ),
        difference_of(
            f"{text}, matched: epoch 1 − end",
            matched.isel(time=first),
            matched.isel(time=-1),
            (0.0, np.inf),
            REBASIN,
        ),
        mean_of("test error: as they are − matched", same, (0.0, 1.0), REBASIN),
        mean_of("control: the same, other labels", no_help, (-0.05, 0.05), OURS).given(
            int(apart["m"]) >= 128, "m = 128"
        ),
        mean_of(
            "control: barrier of the test error, other labels, matched",
            other.sel(matching="activations"),
            (0.02, 1.0),
            f"{OURS}: no one valley",
        ),
        difference_of(
            "matching helps: same labels − other", same, no_help, (0.0, 1.0), OURS
        ),
    ]
