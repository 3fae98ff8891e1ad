"""Linear functions first: a line explains what a network learns early, and it stays.

F is a network trained by SGD, and L is logistic regression on the same sample, fitted
until convergence.  μ = I(F;Y) − I(F;Y|L) is the information about the class that F and
L share.  The claims are that L explains nearly all of F's information while this is
less than half of L's, and that F later learns more and loses none of μ.

The data are a disc cut by a sine, with a tenth of the labels wrong, and digits, 0 to 4
against 5 to 9.  There are two controls: on XOR-like clusters a line has no information,
and L's answers in permuted order explain nothing on any data.  Networks with one and
two hidden layers of width 8 form a ladder of explainers above L.

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
from simbias.datasets.vision.images import SHAPE, images
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.order._explainers import EXPLAINERS, LADDER, with_explainers
from simbias.experiments.order._phases import is_constant, left_at, phases, quantity
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import ExplainedInformation, TrainSignAccuracy
from simbias.networks import convolutional, mlp
from simbias.stops import TrainAccuracyAbove

PAPER = 'arXiv:1905.11604, "almost all"; the number is ours'
LADDERS = "arXiv:1905.11604, ladder"
KEPT = 'arXiv:1905.11604, "retained"; the number is ours'
# What figure and claims read.
AXES = ("source",)
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
Source = Literal[
    "disc", "digits", "xor_clusters", "mnist", "cifar10", "fashion", "mnist5k"
]
Architecture = Literal["mlp", "convolutional"]
# Test inputs: all that there are of images.
_TEST: dict[Source, int] = {
    "disc": 4000,
    "digits": 597,
    "xor_clusters": 4000,
    "mnist": 10_000,
    "cifar10": 10_000,
    "fashion": 10_000,
    "mnist5k": 1000,
}


def sample(
    key: PRNGKeyArray, source: Source, n: int, noise: Real, data_dir: str, verify: bool
) -> Dataset:
    """A training and a test sample of two classes."""
    n_test = _TEST[source]
    if source == "disc":
        return sine_on_disc(key, n=n, n_test=n_test, noise=noise)
    if source == "xor_clusters":
        key_train, key_test = jax.random.split(key)
        test = xor_clusters(key_test, n=n_test)
        return dataclasses.replace(xor_clusters(key_train, n=n), test=test)
    return images(
        key,
        n=n,
        n_test=n_test,
        source=source,
        task="halves",
        data_dir=data_dir,
        verify=verify,
    )


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "disc",
    n: int = 1000,
    noise: Real = 0.1,
    network: Architecture = "mlp",
    m: int = 128,
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample with its explainers, and a network of two hidden layers of width m.

    `noise` is the share of wrong labels on the disc.  The convolutional network, for
    images, has kernels 32 and 64, and m neurons after them.
    """
    key_data, key_explainers, key_network = jax.random.split(key, 3)
    data = sample(key_data, source, n, noise, data_dir, verify)
    data = with_explainers(key_explainers, data)
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
        flow=Descent(rate=0.02, batch=32),
        loss=logistic,
        times=log_times(0.02, 100.0, 50),
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
        "times": log_times(0.02, 20.0, 20),
    },
    paper={
        "cell": {
            "source": ("mnist", "cifar10"),
            "n": 50_000,
            "network": "convolutional",
            "m": 2000,
        },
        "seeds": 5,
        "flow": Descent(rate=0.01, batch=128),
        "times": log_times(0.01, 400.0, 60),
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
    Curves(
        lambda part: bits(part, without=(2,)),
        colour="curve",
        ylabel="bits explained, μ",
    ),
    columns="source",
    # Zero has no place on a logarithmic axis.
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel="time, updates × rate",
    xscale="log",
    names={"source": {"xor_clusters": "control: XOR-like clusters"}},
    legend=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """For every source: first the line, later more than the line.

    On "xor_clusters", the control, a line knows nothing and the network learns all.
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
    seen = phases(cell)
    # Of all seeds together: one of them may have next to no bits in this phase.
    share = jackknife_interval(lambda v: np.divide(*v.sum(axis=0)), seen.early)
    out = [
        estimate_of(
            f"{name}: Σμ/ΣI(F;Y) while I(F;Y) ≤ ½ I(L;Y)", share, (0.9, np.inf), PAPER
        ),
        mean_of(
            f"{name}: I(F;Y) gained since it was I(L;Y) (bit)",
            seen.gain,
            (0.05, 1.0),
            "ours",
        ),
        mean_of(f"{name}: μ lost since then (bit)", seen.loss, (-np.inf, 0.02), KEPT),
    ]
    end = lambda kind: quantity(cell, kind, "explained").isel(time=-1).values
    for low, high in zip(LADDER, LADDER[1:], strict=False):
        text = f"{name}: μ at the end, {high} − {low} (bit)"
        out.append(difference_of(text, end(high), end(low), (0.0, 1.0), LADDERS))
        early, late = (np.log(left_at(cell, k)) for k in (low, high))
        text = f"{name}: ln time at which {high} is left − the same of {low}"
        out.append(difference_of(text, late, early, (0.0, np.inf), LADDERS))
    return [*out, _of_permuted(cell, name)]


def _of_control(cell: xr.Dataset, name: str) -> list[Claim]:
    """Here I(L;Y) = 0; the network learns the classes nevertheless."""
    known = quantity(cell, "linear", "network").isel(time=-1)
    text = f"{name}: I(F;Y) at the end, smallest (bit)"
    return [smallest_of(text, known, (0.95, 1.0), "ours")]


def _of_permuted(cell: xr.Dataset, name: str) -> Claim:
    """Answers in another order explain nothing."""
    end = quantity(cell, "permuted", "explained").isel(time=-1)
    text = f"{name}: μ of L's answers in another order, at the end (bit)"
    return mean_of(text, end, (-0.005, 0.005), "0 by independence; the band is ours")
