"""Linear functions first: a line explains what a network learns early, and it stays.

F is a network trained by SGD, and L is a line trained by the same SGD on the same
sample. μ = I(F;Y) − I(F;Y|L) is the information about the class that F and L share.
There are two claims.  L explains nearly all of F's information while this is less than
half of L's.  Later F learns more and loses none of μ.

The data are a disc cut by a sine, with a tenth of the labels wrong, and digits, 0 to 4
against 5 to 9.  With few rows, a line fitted until convergence ("newton") overfits and
explains less.  So the variant `law` has 1000 and 20,000 rows of the disc and of a
Gaussian law with the moments of the digits.

There are two controls.  On XOR-like clusters the best line has no information, and the
network learns all.  L's answers in permuted order explain nothing on any data.
Networks with one and two hidden layers of width 8 form a ladder of explainers above L.

Reference: Kalimeris, Nakkiran et al. (2019), arXiv:1905.11604; the curve of the disc,
the digits and the ladder are ours.
"""

import dataclasses
from typing import Literal

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.claims import difference_of, estimate_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import sine_on_disc, xor_clusters
from simbias.datasets.vision.images import SHAPE, SIZES, images
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.order._explainers import EXPLAINERS, LADDER, with_explainers
from simbias.experiments.order._phases import (
    Phases,
    departure_time,
    is_constant,
    phases,
    quantity,
)
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import ExplainedInformation, TrainSignAccuracy
from simbias.networks import convolutional, mlp
from simbias.stops import TrainAccuracyAbove

PAPER = 'arXiv:1905.11604, "almost all"; the number is ours'
FITTED = f"{PAPER}; there L is trained as F is, here it is fitted to the end"
LADDERS = "arXiv:1905.11604, ladder"
KEPT = 'arXiv:1905.11604, "retained"; the number is ours'
# What figure and claims read.
AXES = ("source",)
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
RATE, BATCH, STEPS = 0.02, 32, 5000
Source = Literal[
    "disc", "digits", "gaussian_digits", "xor_clusters",
    "mnist", "mnist5k", "fashion", "cifar10",
]  # fmt: skip
Architecture = Literal["mlp", "convolutional"]
# Test inputs of a law; of stored images, all that there are.
_DRAWN = 4000


def sample(
    key: PRNGKeyArray, source: Source, n: int, noise: Real, data_dir: str, verify: bool
) -> Dataset:
    """A training and a test sample of two classes."""
    n_test = SIZES[source][1] if source in SIZES else _DRAWN
    if source == "disc":
        return sine_on_disc(key, n=n, n_test=n_test, noise=noise)
    if source == "xor_clusters":
        key_train, key_test = jax.random.split(key)
        test = xor_clusters(key_test, n=n_test)
        return dataclasses.replace(xor_clusters(key_train, n=n), test=test)
    files = {"source": source, "data_dir": data_dir, "verify": verify}
    return images(key, n=n, n_test=n_test, task="halves", **files)


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "disc",
    n: int = 1000,
    noise: Real = 0.1,
    network: Architecture = "mlp",
    m: int = 128,
    rate: Real = RATE,
    batch: int = BATCH,
    steps: int = STEPS,
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample with its explainers, and a network of two hidden layers of width m.

    Args:
        key: random key.
        source: name of the data.
        n: samples to train on.
        noise: share of wrong labels on the disc.
        network: "convolutional", for images, has kernels 32 and 64, and m neurons
            after them.
        m: width: neurons of a hidden layer.
        rate: learning rate of the line L, equal to that of the network.
        batch: batch size of L, equal to that of the network.
        steps: steps of L, as many as the network has.
        data_dir: folder that holds the files of the images; nothing is downloaded.
        verify: whether files of images are checked against their published digests.
    """
    key_data, key_explainers, key_network = jax.random.split(key, 3)
    data = sample(key_data, source, n, noise, data_dir, verify)
    data = with_explainers(key_explainers, data, Descent(rate=rate, batch=batch), steps)
    if network == "mlp":
        return data, mlp(key_network, (data.x.shape[1], m, m, 1))
    image = SHAPE.get(source, (1, 1, data.x.shape[1]))
    return data, convolutional(key_network, image=image, k=1, channels=(32, 64), p=m)


experiment = presets(
    Experiment(
        name="simple_first",
        make=make,
        cell={"source": ("disc", "digits", "xor_clusters")},
        seeds=20,
        flow=Descent(rate=RATE, batch=BATCH),
        loss=logistic,
        times=log_times(RATE, RATE * STEPS, 50),
        measures={
            "information": ExplainedInformation(EXPLAINERS),
            "train_accuracy": TrainSignAccuracy(),
        },
        # Every training sample is fitted.
        stop=TrainAccuracyAbove(1.0),
        dtype="float32",
    ),
    smoke={
        "cell": {"source": "disc", "m": 32},
        "seeds": 2,
        "times": log_times(RATE, 20.0, 20),
    },
    paper={
        "cell": {
            "source": ("mnist", "cifar10"),
            "n": 50_000,
            "network": "convolutional",
            "m": 2000,
            "rate": 0.01,
            "batch": 128,
            "steps": 40_000,
        },
        "seeds": 5,
        "flow": Descent(rate=0.01, batch=128),
        "times": log_times(0.01, 400.0, 60),
    },
    law={"cell": {"source": ("disc", "gaussian_digits"), "n": (1000, 20_000)}},
    law_smoke={"cell": {"source": "gaussian_digits", "n": 1000}},
    law_paper={
        "cell": {"source": ("disc", "gaussian_digits"), "n": (1000, 50_000)}
        | {"network": "mlp", "m": 128},
    },
)


# What is drawn: name -> explainer and quantity.
CURVES = {
    "I(F;Y), what F knows": ("linear", "network"),
    "μ, what a line L explains": ("linear", "explained"),
    "I(F;Y|L), the rest": ("linear", "unexplained"),
    "μ of one hidden layer of 8": ("depth 1", "explained"),
    "μ of two hidden layers of 8": ("depth 2", "explained"),
    "μ of L, in another order": ("permuted", "explained"),
}


def bits(part: xr.Dataset, without: tuple[int, ...]) -> xr.DataArray:
    """All of `CURVES`; NaN for those that a panel does not have."""
    seen = [quantity(part, *which) for which in CURVES.values()]
    seen = [v * np.nan if i in without else v for i, v in enumerate(seen)]
    return xr.concat(seen, xr.DataArray([*CURVES], dims="curve", name="curve"))


figure = Panels(
    Curves(
        lambda part: bits(part, without=(3, 4, 5)),
        colour="curve",
        ylabel="bits",
        laws=(
            Law(lambda part: quantity(part, "linear", "explainer").median(), "I(L;Y)"),
        ),
    ),
    Curves(lambda part: bits(part, (2,)), colour="curve", ylabel="bits explained, μ"),
    columns="source",
    # Zero has no place on a logarithmic axis.
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel="time, updates × rate",
    xscale="log",
    names={
        "source": {
            "gaussian_digits": "Gaussian digits",
            "xor_clusters": "control: XOR-like clusters",
        }
    },
    legend=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """For every source: first the line, later more than the line.

    On "xor_clusters", the control, a line has no information and the network learns
    all.
    """
    out = []
    for source in ds["source"].values:
        of_source = _of_control if source == "xor_clusters" else _of_line
        out += of_source(ds.sel(source=source), str(source))
    return out


def _of_line(cell: xr.Dataset, name: str) -> list[Claim]:
    """Both phases, the order of the ladder, and answers in another order."""
    if is_constant(cell):
        needs = "a network that is not constant on its test sample"
        none = mean_of(f"{name}: μ/I", [], (0.9, np.inf), PAPER).given(False, needs)
        return [none, _of_permuted(cell, name)]
    seen, gained = phases(cell), "I(F;Y) gained since it was I(L;Y) (bit)"
    out = [
        *_early(seen, name, PAPER),
        *_early(phases(cell, "newton"), f"{name}, L by Newton's method", FITTED),
        mean_of(f"{name}: {gained}", seen.gain, (0.05, 1.0), "ours"),
        mean_of(f"{name}: μ lost since then (bit)", seen.loss, (-np.inf, 0.02), KEPT),
    ]
    end = lambda kind: quantity(cell, kind, "explained").isel(time=-1).values
    for low, high in zip(LADDER, LADDER[1:], strict=False):
        text = f"{name}: μ at the end, {high} − {low} (bit)"
        out.append(difference_of(text, end(high), end(low), (0.0, 1.0), LADDERS))
        early, late = (np.log(departure_time(cell, k)) for k in (low, high))
        text = f"{name}: ln time of departure from {high} − the same for {low}"
        out.append(difference_of(text, late, early, (0.0, np.inf), LADDERS))
    return [*out, _of_permuted(cell, name)]


def _early(seen: Phases, name: str, source: str) -> list[Claim]:
    """Ratios over all seeds together, because one seed may gain almost no bits.

    The paper speaks of improvement.  The sums also contain the information that a
    network has before training, at every record.
    """
    gained = seen.improved[np.isfinite(seen.improved).all(axis=1)]
    rows = {
        "gain of μ over that of I(F;Y) until I(F;Y) > ½ I(L;Y)": gained,
        "Σμ/ΣI(F;Y) while I(F;Y) ≤ ½ I(L;Y)": seen.early,
    }
    ratio = lambda v: np.divide(*v.sum(axis=0)) if len(v) else np.nan
    return [
        estimate_of(
            f"{name}: {text}", jackknife_interval(ratio, values), (0.9, np.inf), source
        )
        for text, values in rows.items()
    ]


def _of_control(cell: xr.Dataset, name: str) -> list[Claim]:
    """Here I(L;Y) = 0, and the network still learns the classes."""
    known = quantity(cell, "linear", "network").isel(time=-1)
    text = f"{name}: I(F;Y) at the end, smallest (bit)"
    return [smallest_of(text, known, (0.95, 1.0), "ours")]


def _of_permuted(cell: xr.Dataset, name: str) -> Claim:
    """Answers in another order explain nothing."""
    end = quantity(cell, "permuted", "explained").isel(time=-1)
    text = f"{name}: μ of L's answers in another order, at the end (bit)"
    return mean_of(text, end, (-0.005, 0.005), "0 by independence; the band is ours")
