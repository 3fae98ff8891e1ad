"""Mode connectivity after a fork: from which step on two branches share a valley.

Two networks have the initialisation and the first k steps in common; from then on each
has its own batches.  If the fork comes late enough, the error has no barrier on the
line between them; on digits this already holds for k = 0.  Networks of two
initialisations (`fork` −1) do have a barrier, which arises in training.  Reordering the
neurons lowers it, and more so the longer they have trained.  So it is training, not the
law of the initialisation, that makes wide networks nearly equal up to the order of
neurons.

A third network learns random labels: no order of its neurons brings it into the valley
of the first.

Reference: Frankle, Dziugaite, Roy & Carbin (2020), arXiv:1912.05671; Ainsworth, Hayase
& Srinivasa (2023), arXiv:2209.04836.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.barrier import barrier
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import Claim, Dataset, Experiment, Index
from simbias.datasets.vision.images import Source, images
from simbias.experiment_presets import presets
from simbias.experiments.layers._digits import CLASSES, N, input_size
from simbias.experiments.layers._side_by_side import (
    NAMES,
    UNSTABLE,
    SideBySide,
    descent_of_each,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.figures import Curves, Panels, evenly
from simbias.measures import AccuracyOfEach, WeightPath
from simbias.networks import mlp
from simbias.validation.values import positive_integers

OURS = "ours"
FRANKLE = "LeNet on MNIST: Frankle et al. (2020), arXiv:1912.05671 (?)"
LATER = "Frankle et al. (2020), arXiv:1912.05671 (?)"
REBASIN = "Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836, of MNIST"
LEAST_TIME = 20.0
AXES = ("fork",)
# With n = 1000 the clock counts epochs: ten steps of batches of 100.
RATE, BATCH = 0.1, 100
STEPS = 200
# In place of a step: two initialisations.
APART = -1
WAYS = ("none", "activations")


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
    """Two networks that are equal up to step `fork`, and one of random labels.

    A `fork` of −1, or any below 0, stands for two initialisations.

    Args:
        key: random key.
        n: samples to train on.
        n_test: samples of the test set.
        m: neurons of each hidden layer.
        hidden: number of hidden layers.
        fork: step up to which the two networks have the same batches.
        source: name of the dataset.
        data_dir: folder that holds the files of the images; nothing is downloaded.
        verify: whether image files are checked against their published digests.
    """
    positive_integers(m=m, hidden=hidden)
    key_data, key_labels, *keys = jax.random.split(key, 5)
    data = images(
        key_data, n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    test = data.test
    assert test is not None
    key_train, key_test = jax.random.split(key_labels)
    drawn = _any_labels(key_train, data.y), _any_labels(key_test, test.y)
    data = with_targets(data, (data.y, test.y), drawn)
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
        flow=descent_of_each(3, RATE, BATCH),
        loss=shared_cross_entropy,
        times=(0.0, 1.0, 2.0, 4.0, 20.0),
        measures={"accuracy": AccuracyOfEach(CLASSES), "path": WeightPath(1, WAYS)},
        final={"other_path": WeightPath(2, WAYS)},
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
        "flow": descent_of_each(3, RATE, 500),
        "times": (0.0, 6.0, 12.0, 24.0, 48.0, 120.0, 300.0, 1200.0),
    },
)


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """The result with barriers of the test data, and lines to the other networks."""
    end = ds.isel(time=-1, fork=0).sel(sample="test", quantity="error")
    names = xr.DataArray(["other labels", "same labels"], dims="labels")
    lines = xr.concat([end["other_path"], end["path"]], names)
    high = barrier(ds["path"]).sel(sample="test", drop=True)
    fork = int(ds["fork"][0])
    start = "two starts" if fork < 0 else f"fork at {fork}"
    return ds.assign(barrier=high, lines=lines).assign_coords(start=start)


figure = Panels(
    Curves(
        lambda part: part["barrier"].isel(time=-1).sel(quantity="error"),
        colour="matching",
        mark="o",
        x=evenly("fork"),
        xlabel="step of the fork",
        title="barrier of the test error",
        laws=(UNSTABLE,),
    ),
    Curves(
        lambda part: part["barrier"].isel(fork=0),
        colour="matching",
        line="quantity",
        mark="o",
        x=evenly("time"),
        xlabel="time (epochs, for n = 1000)",
        title="{start}: barriers over training (test)",
    ),
    Curves("lines", colour="matching", line="labels", title="test error, {start}"),
    x="alpha",
    xlabel="α, from the first network to the other",
    names={"matching": NAMES, "fork": {str(APART): "two starts"}},
    legend=3,
    of=drawn,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Forks share a valley from step 0 on; two initialisations do after matching."""
    train = ds["accuracy"].isel(time=-1, network=slice(0, 2)).sel(sample="train")
    high, forked = barrier(ds["path"]), ds["fork"].values[ds["fork"] >= 0]
    error = high.sel(sample="test", quantity="error", matching="none").isel(time=-1)
    loss = high.sel(sample="train", quantity="loss", matching="none").isel(time=-1)
    at_once, apart = at(error, "fork", 0), at(error, "fork", APART)
    early, late = (at(loss, "fork", forked[i] if forked.size else 0) for i in (0, -1))
    start = "barrier of the test error, fork at the start"
    starts = "barrier of the test error: two starts − one, fork at the start"
    forks = "barrier of the training loss: earliest fork − latest"
    return [
        smallest_of("training accuracy, smallest", train, (0.99, 1), OURS),
        mean_of(start, at_once, (0, 0.02), FRANKLE),
        *_of_two_starts(at(ds, "fork", APART)),
        difference_of(starts, apart, at_once, (0, 1), LATER),
        *Claims(needs={"two forks": forked.size > 1}).rows(
            difference_of(forks, early, late, (0, np.inf), LATER)
        ),
    ]


def _of_two_starts(apart: xr.Dataset) -> list[Claim]:
    high, other = barrier(apart["path"]).sel(sample="test"), apart["other_path"]
    naive, matched = (high.sel(quantity="loss", matching=way) for way in WAYS)
    end = high.isel(time=-1).sel(quantity="error")
    other = barrier(other).sel(sample="test", quantity="error")
    same, no_help = (
        v.sel(matching="none") - v.sel(matching="activations") for v in (end, other)
    )
    left = other.sel(matching="activations")
    first = int(np.argmax(naive["time"].values >= 1))
    rise = naive.isel(time=-1), naive.isel(time=0)
    fall = matched.isel(time=first), matched.isel(time=-1)
    text, far = "two starts: barrier of the test loss", (0, np.inf)
    control = "control: barrier of the test error, other labels, matched"
    helps = "matching helps: same labels − other"
    none = mean_of("control: the same, other labels", no_help, (-0.05, 0.05), OURS)
    return [
        difference_of(f"{text}, end − start", *rise, far, REBASIN),
        difference_of(f"{text}, matched: epoch 1 − end", *fall, far, REBASIN),
        mean_of("test error: as they are − matched", same, (0, 1), REBASIN),
        none.given(int(apart["m"]) >= 128, "m = 128"),
        mean_of(control, left, (0.02, 1), f"{OURS}: no one valley"),
        difference_of(helps, same, no_help, (0, 1), OURS),
    ]
