"""Simple first: a line explains what a network learns at first, and it is kept.

F is a network under SGD, L the logistic regression on the same sample, fitted to the
end and then fixed.  μ = I(F;Y) − I(F;Y|L) is what F knows of the class and L knows,
too.  While F knows less than half of what L does nearly all of it is explained by L;
later F learns what L does not know, and forgets none of the rest.

The samples are a disc cut by a sine, with a tenth of the labels wrong, and digits, 0 to
4 against 5 to 9.  On XOR-like clusters, the control, a line knows nothing and explains
nothing; L's answers in another order explain nothing anywhere.  A ladder of networks of
one and two hidden layers of width 8 stands in for L where L has been left.

Reference: Kalimeris, Nakkiran et al. (2019), arXiv:1905.11604; the curve of the disc,
the digits and the ladder are ours.
"""

import dataclasses
from typing import Literal

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.parts import with_axes
from simbias.claims import difference_of, estimate_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.separable.xor_clusters import xor_clusters
from simbias.datasets.teachers.sine_on_disc import sine_on_disc
from simbias.datasets.vision.images import SHAPE, images
from simbias.experiments._times import log_times
from simbias.experiments.order._explainers import EXPLAINERS, LADDER, with_explainers
from simbias.experiments.order._phases import is_constant, left_at, phases, quantity
from simbias.figures.band import band
from simbias.figures.laws import LAW, law_level
from simbias.figures.legends import legend_beside
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import logistic
from simbias.measures.information.explained_information import ExplainedInformation
from simbias.measures.risk.train_accuracy import TrainAccuracy
from simbias.networks.convolution.convolutional import convolutional
from simbias.networks.dense.mlp import mlp
from simbias.presets import presets
from simbias.stops.train_accuracy_above import TrainAccuracyAbove

PAPER = 'arXiv:1905.11604, "almost all"; the number is ours'
LADDERS = "arXiv:1905.11604, ladder"
KEPT = 'arXiv:1905.11604, "retained"; the number is ours'
# What figure and claims read.
AXES = ("source",)
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
Source = Literal["disc", "digits", "xor_clusters", "mnist", "cifar10"]
Architecture = Literal["mlp", "convolutional"]
# Test inputs: of images all there are.
_TEST: dict[Source, int] = {
    "disc": 4000,
    "digits": 597,
    "xor_clusters": 4000,
    "mnist": 10_000,
    "cifar10": 10_000,
}
_TITLES = {"xor_clusters": "control: XOR-like clusters"}
_LABELS = {
    "linear": "a line, L",
    "depth 1": "one hidden layer of 8",
    "depth 2": "two hidden layers of 8",
    "permuted": "L, in another order",
}


def sample(
    key: PRNGKeyArray, source: Source, n: int, noise: Real, data_dir: str, verify: bool
) -> Dataset:
    """The sample, of two classes, and its test sample."""
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
            "train_accuracy": TrainAccuracy(),
        },
        # Every training sample is fitted: nothing more is learned of the class.
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


def figure(ds: xr.Dataset) -> Figure:
    """Bits by time: what the network knows, and what each explainer knows of it."""
    ds = with_axes(ds, AXES)
    with style():
        whole = blank(4.0 * ds.sizes["source"] + 0.6, 6.4)
        panels = whole.subplots(2, ds.sizes["source"], squeeze=False, sharex=True)
        for i, source in enumerate(ds["source"].values):
            cell = ds.sel(source=source)
            _by_line(panels[0, i], cell)
            _by_ladder(panels[1, i], cell)
            panels[0, i].set_title(_TITLES.get(source, source))
            panels[1, i].set_xlabel("time, updates × rate")
        panels[0, 0].set_ylabel("bits")
        panels[1, 0].set_ylabel("bits explained, μ")
        for row in panels:
            legend_beside(row[-1], handles=row[0].get_legend_handles_labels()[0])
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The line at first, more than the line later, and all where a line knows nothing.

    Of every source; "xor_clusters" is a control.
    """
    ds = with_axes(ds, AXES)
    out = []
    for source in ds["source"].values:
        cell = ds.sel(source=source)
        found = _of_control(cell) if source == "xor_clusters" else _of_line(cell)
        out += [
            dataclasses.replace(c, statement=f"{source}: {c.statement}") for c in found
        ]
    return out


def _of_line(cell: xr.Dataset) -> list[Claim]:
    """Both phases, the order of the ladder, and answers in another order."""
    if is_constant(cell):
        needs = "a network that is not constant on its test sample"
        none = mean_of("μ/I", [], (0.9, np.inf), PAPER).given(False, needs)
        return [none, _of_permuted(cell)]
    seen = phases(cell)
    # Of all seeds together: one of them may have next to no bits in this phase.
    share = jackknife_interval(lambda v: np.divide(*v.sum(axis=0)), seen.early)
    out = [
        estimate_of("Σμ/ΣI(F;Y) while I(F;Y) ≤ ½ I(L;Y)", share, (0.9, np.inf), PAPER),
        mean_of(
            "I(F;Y) gained since it was I(L;Y) (bit)", seen.gain, (0.05, 1.0), "ours"
        ),
        mean_of("μ lost since then (bit)", seen.loss, (-np.inf, 0.02), KEPT),
    ]
    for low, high in zip(LADDER, LADDER[1:], strict=False):
        less, more = (
            quantity(cell, k, "explained").isel(time=-1).values for k in (low, high)
        )
        early, late = (np.log(left_at(cell, k)) for k in (low, high))
        text = f"μ at the end, {high} − {low} (bit)"
        out.append(difference_of(text, more, less, (0.0, 1.0), LADDERS))
        text = f"ln time at which {high} is left − the same of {low}"
        out.append(difference_of(text, late, early, (0.0, np.inf), LADDERS))
    return [*out, _of_permuted(cell)]


def _of_control(cell: xr.Dataset) -> list[Claim]:
    """What no line knows is learned; I(L;Y) = 0, so that L explains nothing of it."""
    known = quantity(cell, "linear", "network")
    text = "I(F;Y) at the end, smallest (bit)"
    return [smallest_of(text, known[:, -1], (0.95, 1.0), "ours")]


def _of_permuted(cell: xr.Dataset) -> Claim:
    """Answers in another order explain nothing."""
    end = quantity(cell, "permuted", "explained").isel(time=-1)
    text = "μ of L's answers in another order, at the end (bit)"
    return mean_of(text, end, (-0.005, 0.005), "0 by independence; the band is ours")


def _by_line(axes: Axes, cell: xr.Dataset) -> None:
    rows = (
        ("network", "I(F;Y), what it knows", "black"),
        ("explained", "μ, what L explains", COLOURS[0]),
        ("unexplained", "I(F;Y|L), the rest", COLOURS[1]),
    )
    for name, label, colour in rows:
        _curve(axes, quantity(cell, "linear", name), colour, label)
    line = float(quantity(cell, "linear", "explainer").isel(time=0).median())
    law_level(axes, line, "I(L;Y)", color=LAW, ls="--")


def _by_ladder(axes: Axes, cell: xr.Dataset) -> None:
    _curve(axes, quantity(cell, "linear", "network"), "black", "I(F;Y)")
    colours = dict(zip((*LADDER, "permuted"), COLOURS[:1] + COLOURS[2:5], strict=True))
    for name, colour in colours.items():
        _curve(axes, quantity(cell, name, "explained"), colour, _LABELS[name])


def _curve(axes: Axes, values: xr.DataArray, colour: str, label: str) -> None:
    # Zero has no place on a logarithmic axis.
    later = values.isel(time=slice(1, None)).transpose("time", "seed")
    band(axes, later["time"], later, colour=colour, label=label)
    axes.set_xscale("log")
