"""Dominoes: a digit that suffices suppresses the image below it.

The inputs are two blocks with the same class: a digit above, and an image below whose
class is harder to recognise.  The network learns the digit.  A logistic regression
(probe) measures how well the features of its last layer still predict the class of the
lower block.  The inputs of the probe have the digit of another sample.

By default no files are needed: 8 × 8 digits above noisy gratings.  The preset `fashion`
has MNIST above Fashion-MNIST, from two packages.  `fashion_paper` also has the
published training, with a narrow ResNet-18.  The preset `paper` has the published
images and ResNet-18, and needs `--cell.data-dir FOLDER`.

Controls: with `correlation` 1/classes the blocks are independent, and the digit has no
information.  Without weight decay a seed has the same sample and the same
initialisation.

Reference: Shah et al. (2020), arXiv:2006.07710, section 4 (MNIST–CIFAR); Tsoy &
Konstantinov (2024), arXiv:2405.17299, figures 3 and 8–10.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Literal

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.parts import parts
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.dominoes import IMAGES, Source, dominoes
from simbias.experiment_presets import presets
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
from simbias.figures import Curves, Law, Panels, VerticalLaw
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import BlockAccuracy, LastLayerProbe
from simbias.networks import convolutional, resnet

# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 16.0
Architecture = Literal["convolutional", "resnet18", "narrow_resnet18"]
# Channels of the stages: an eighth of the published ones.
NARROW = (8, 16, 32, 64)
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
        classes: number of classes, from 2 to 10.
        n: samples to train on.
        n_test: samples of the test set.
        noise: σ of the textures, relative to the grating; of "digits" only.
        source: name of the dataset.
        network: kind of network; "narrow_resnet18" has an eighth of the channels.
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
    residual = functools.partial(resnet, image=image, k=classes, has_max_pool=True)
    if network == "narrow_resnet18":
        residual = functools.partial(residual, widths=NARROW)
    return data, residual(key_network, scale=scale)


_DESCENT = Descent(rate=0.05, optimiser="momentum", batch=50, weight_decay=5e-3)
# At most three hours on two cores: 32 epochs of 5000 samples, recorded every four.
_NARROW_DESCENT = published_descent(n=5000, epochs=32)


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
    fashion={
        "cell": {
            "correlation": (0.1, 1.0),
            "flow.weight_decay": None,
            "classes": 10,
            "n_test": 1000,
            "source": "mnist5k_fashion",
        },
        "seeds": 6,
        "flow": dataclasses.replace(_DESCENT, weight_decay=2e-3),
        "times": _times(32.0, 4),
    },
    fashion_smoke={"cell": {"classes": 2}},
    fashion_paper={
        "cell": {
            "correlation": (0.1, 1.0),
            "scale": 2.0**-5,
            "n": 5000,
            "n_test": 2000,
            "source": "mnist5k_fashion",
            "network": "narrow_resnet18",
        },
        "seeds": 6,
        "flow": _NARROW_DESCENT,
        "times": published_times(_NARROW_DESCENT, records=8),
    },
)


def AXES(ds: xr.Dataset) -> tuple[str, ...]:
    """ρ, and the decay and every argument of `make` with several values: the cases."""
    others = [str(k) for k in ds["status"].dims if k not in ("correlation", "seed")]
    is_own = lambda k: k == DECAY or not k.startswith("flow.")
    return ("correlation", *filter(is_own, others))


def cases(ds: xr.Dataset) -> xr.Dataset:
    """The result along `case`, the values of the axes other than ρ."""
    each = list(parts(ds, ("correlation",)))
    names = [label.replace("flow.weight_decay", "weight decay") for label, _ in each]
    both = xr.concat([part for _, part in each], xr.DataArray(names, dims="case"))
    both = both.assign_coords(case=names)
    return both.assign_coords(
        seeds=ds.sizes["seed"], largest=ds["correlation"].values.max()
    )


def share(part: xr.Dataset) -> xr.DataArray:
    """Elapsed share of training."""
    return part["time"] / part["time"][-1].item()


def probes(kind: str) -> Callable[[xr.Dataset], xr.DataArray]:
    """The probe of the lower block by ρ, one without penalty, and one for the digit."""

    def values(part: xr.Dataset) -> xr.DataArray:
        rho = [f"ρ = {v:g}" for v in part["correlation"].values]
        seen = part["complex_probe"].assign_coords(correlation=rho)
        last = part.isel(correlation=[-1])
        free = last["free_probe"].assign_coords(correlation=[f"{rho[-1]}, no penalty"])
        several = [seen, free]
        if kind == "accuracy":
            digit = last["simple_probe"].assign_coords(correlation=["digit"])
            several.append(digit)
        return xr.concat(several, "correlation").sel(probe=kind)

    return values


CHANCE = Law(lambda part: 1 / part["classes"], "chance", ":")
# The claims compare the end with this share of training, as the paper does.
QUARTER = VerticalLaw(0.25, "¼ of training")
figure = Panels(
    Curves(
        probes("accuracy"),
        colour="correlation",
        title="probe accuracy, digit exchanged",
        laws=(CHANCE, QUARTER),
    ),
    Curves(
        probes("scale"),
        colour="correlation",
        yscale="log",
        title="rms coefficient of the probe",
        laws=(QUARTER,),
    ),
    Curves(
        lambda part: part["accuracy"].isel(correlation=-1),
        colour="randomised",
        line="randomised",
        first_colour=4,
        ylim=(0, 1.02),
        title="accuracy of the network, ρ = {largest:g}",
        laws=(CHANCE,),
    ),
    rows="case",
    x=share,
    xlabel="share of training",
    names={
        "randomised": {
            "nothing": "test sample",
            "simple": "digit exchanged",
            "complex": "lower block exchanged",
        }
    },
    title="medians and 10–90 % of {seeds} seeds",
    of=cases,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The network uses the digit, and its features contain less and less else."""
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
