"""Dominoes: a digit that suffices hides the image below it, more so towards the end.

The inputs are two blocks with the same class: a digit above, and below an image whose
class is harder to see.  The network learns the digit.  A logistic regression on its
last layer, on inputs whose digit is that of another sample, tells how much of the lower
block is left in the features.

By default no files are needed: 8 × 8 digits above noisy gratings and a small
convolutional network.  `--cell.source mnist_cifar10 --cell.network resnet18
--cell.data-dir FOLDER` is the published setting, and the preset `paper` is that;
without the folder it can be planned and not run.  The published run also flips images
at random, and draws digits without replacement.

Members with `correlation` 1/classes, whose blocks are independent, are the control:
what the same network learns of the lower block when the digit does not help.  Those
without weight decay are another: what the decay adds is claimed pair by pair, for a
seed has the same sample and the same start under both.

Reference: Shah et al. (2020), arXiv:2006.07710, section 4 (MNIST–CIFAR); Tsoy &
Konstantinov (2024), arXiv:2405.17299, figures 3 and 8–10.
"""

from typing import Literal

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import parts
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.dominoes import IMAGES, Source, dominoes
from simbias.experiments.shortcuts._dominoes_claims import (
    DECAY,
    against_control,
    at_the_end,
    by_decay,
    over_training,
)
from simbias.experiments.shortcuts._published_descent import (
    RECORDS,
    published_descent,
    published_times,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.legends import legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy
from simbias.measures.risk.block_accuracy import BlockAccuracy
from simbias.measures.risk.last_layer_probe import LastLayerProbe
from simbias.networks.convolution.convolutional import convolutional
from simbias.networks.convolution.resnet import resnet
from simbias.presets import presets

# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 16.0
Architecture = Literal["convolutional", "resnet18"]
# C of a regression that has no penalty, but for features that are always 0.
FREE = 1e9


def make(
    key: PRNGKeyArray,
    *,
    correlation: Real = 1.0,
    classes: int = 2,
    n: int = 1000,
    n_test: int = 2000,
    noise: Real = 2.0,
    source: Source = "digits",
    network: Architecture = "convolutional",
    scale: Real = 1.0,
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, AbstractNetwork]:
    """Dominoes, and a network whose weights are all multiplied by `scale`.

    Args:
        key: random key.
        correlation: probability that the upper block has the class of the lower one.
        classes: the first so many, from 2 to 10.
        n: samples to train on.
        n_test: samples of the test set.
        noise: σ of the textures, relative to the grating; of "digits" only.
        source: which data set.
        network: kind of network.
        scale: factor of every weight.
        data_dir: folder that holds the files of the images; nothing is downloaded.
        verify: whether files of images are checked against their published digests.
    """
    key_data, key_network = jax.random.split(key)
    data = dominoes(
        key_data,
        n=n,
        n_test=n_test,
        classes=classes,
        correlation=correlation,
        source=source,
        noise=noise,
        data_dir=data_dir,
        verify=verify,
    )
    image = IMAGES[source]
    if network == "convolutional":
        return data, convolutional(key_network, image=image, k=classes, scale=scale)
    # The published network keeps the pooling behind its 3 × 3 stem.
    return data, resnet(
        key_network, image=image, k=classes, scale=scale, has_max_pool=True
    )


_DESCENT = Descent(rate=0.05, optimiser="momentum", batch=50, weight_decay=5e-3)


def _times(final: float, records: int = RECORDS) -> tuple[float, ...]:
    return tuple(final * i / records for i in range(records + 1))


# The clock is steps × rate: with n = 1000, a batch of 50 and a rate of 0.05 it counts
# epochs.
experiment = presets(
    Experiment(
        name="dominoes",
        make=make,
        cell={"correlation": (0.5, 1.0), "flow.weight_decay": (0.0, 2e-3)},
        seeds=12,
        flow=_DESCENT,
        loss=cross_entropy,
        times=_times(64.0),
        measures={
            "accuracy": BlockAccuracy(),
            "complex_probe": LastLayerProbe(),
            "free_probe": LastLayerProbe(penalty=FREE),
            "simple_probe": LastLayerProbe(target="simple"),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {
            "correlation": (0.5, 1.0),
            "flow.weight_decay": None,
            "n": 200,
            "n_test": 400,
        },
        "seeds": 1,
        "times": _times(4.0, 4),
    },
    paper={
        "cell": {
            "correlation": (0.1, 0.95, 1.0),
            "flow.weight_decay": None,
            "scale": (2.0**-5, 1.0),
            "n": 37_500,
            "n_test": 10_000,
            "classes": 10,
            "source": "mnist_cifar10",
            "network": "resnet18",
        },
        "seeds": 12,
        "flow": published_descent(),
        "times": published_times(published_descent()),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Probe accuracy and scale over training, and what the network itself looks at."""
    each = list(parts(ds, ("correlation",)))
    with style():
        whole = blank(10.5, 3.2 * len(each))
        panels = whole.subplots(len(each), 3, squeeze=False, sharex=True)
        for row, (label, part) in zip(panels, each, strict=True):
            _probes(row[0], part, "accuracy")
            law_level(row[0], 1 / int(part["classes"]), "chance")
            _probes(row[1], part, "scale")
            _reliance(row[2], part.isel(correlation=-1))
            row[0].set_ylabel(label.replace("flow.weight_decay", "weight decay"))
            row[1].set_ylim(0, None)
        titles = ("probe accuracy, digit exchanged", "rms coefficient of the probe")
        for axes, title in zip(panels[0], titles, strict=False):
            axes.set_title(title)
        largest = float(each[0][1]["correlation"][-1])
        panels[0, 2].set_title(f"accuracy of the network, ρ = {largest:g}")
        for axes in panels[-1]:
            axes.set_xlabel("share of training")
        whole.suptitle(_caption(ds), fontsize="medium")
        legend_below(whole, columns=4)
    return whole


def _caption(ds: xr.Dataset) -> str:
    return f"medians and 10–90 % of {ds.sizes['seed']} seeds"


def claims(ds: xr.Dataset) -> list[Claim]:
    """The network looks at the digit, and its features show less and less else."""
    out = []
    for label, part in parts(ds, ("correlation",)):
        where = f", {label}" if label else ""
        chance = 1 / int(part["classes"])
        for rho in part["correlation"].values[part["correlation"] >= 0.9]:
            out += over_training(part.sel(correlation=rho), f"ρ = {rho:g}{where}")
        if float(part["correlation"][-1]) == 1:
            out += at_the_end(part.isel(correlation=-1, time=-1), chance, where)
            out.append(against_control(part.isel(time=-1), chance, where))
    if DECAY in ds.dims:
        for label, part in parts(ds, ("correlation", DECAY)):
            if float(part["correlation"][-1]) == 1:
                where = f", {label}" if label else ""
                out += by_decay(part.isel(correlation=-1), where)
    return out


def _probes(axes: Axes, part: xr.Dataset, kind: str) -> None:
    share = part["time"] / float(part["time"][-1])
    for i, rho in enumerate(part["correlation"].values):
        values = part["complex_probe"].sel(correlation=rho, probe=kind)
        colour = COLOURS[i % len(COLOURS)]
        band(axes, share, values, colour=colour, label=f"ρ = {rho:g}")
    if kind == "accuracy":
        last = part.isel(correlation=-1)
        free = last["free_probe"].sel(probe=kind).median("seed")
        text = f"ρ = {float(last['correlation']):g}, no penalty"
        axes.plot(share, free, ":", color=colour, label=text)
        digit = last["simple_probe"].sel(probe=kind)
        axes.plot(share, digit.median("seed"), "--", color="#555555", label="digit")


def _reliance(axes: Axes, cell: xr.Dataset) -> None:
    share = cell["time"] / float(cell["time"][-1])
    labels = {
        "nothing": "test sample",
        "simple": "digit exchanged",
        "complex": "lower block exchanged",
    }
    for i, (kind, label) in enumerate(labels.items()):
        values = cell["accuracy"].sel(randomised=kind)
        # Two of the three may coincide.
        line = "--" if kind == "complex" else "-"
        band(axes, share, values, line, colour=COLOURS[i + 3], label=label)
    law_level(axes, 1 / int(cell["classes"]))
    axes.set_ylim(0, 1.02)
