"""Patch sensitivity: how often a patch of noise changes the class, by architecture.

A vision transformer, a convolutional network and a perceptron learn the classes of the
same small images until they fit them.  One patch of an image is replaced by noise.  The
sensitivity is the share of pairs (image, patch) for which the predicted class changes.
The published order is transformer below convolutional network and perceptron, at the
same accuracy on the sample.

Control: if every patch is noise, nothing of the image remains.  Then every network is
right with a probability of one over the number of classes.

Reference: Vasudeva, Fu, Zhou, Kau, Huang & Sharan (2024), arXiv:2403.06925, of CIFAR-10
and other images; images, sizes, rate and steps are ours.
"""

import dataclasses
import functools
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.first_passage import first_passage
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.images import CLASSES, SHAPE, Source, images
from simbias.experiment_presets import presets
from simbias.experiments._at_times import at_times
from simbias.experiments._times import after_steps
from simbias.figures import Curves, Law, Panels, Points, VerticalLaw
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy, PatchSensitivity
from simbias.networks import convolutional, patch_transformer, torch_default
from simbias.numerics.patches import patch_numbers
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integers

AXES = ("network",)
PAPER = "Vasudeva et al. (2024), arXiv:2403.06925"
Kind = Literal["transformer", "convolutional", "mlp"]
NAMES = {"mlp": "perceptron"}
RATE, BATCH, STEPS = 2e-3, 50, 400
HEADS = 4
# Accuracy on the sample at which networks are compared on their way.
LEVEL = 0.9


def make(
    key: PRNGKeyArray,
    *,
    network: Kind = "transformer",
    n: int = 400,
    n_test: int = 300,
    width: int = 32,
    depth: int = 2,
    noise: Real = 0.0,
    source: Source = "digits",
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Images in patches, as `features` of the sample, and a network from torch's law.

    Patches have 2 × 2 pixels (digits) or 4 × 4.  The transformer has `depth` layers of
    four heads; the convolutional network w/2, w, … channels and 2w neurons; the
    perceptron `depth` layers of 2w neurons.

    Args:
        key: random key of the sample and of the initial weights.
        network: "transformer", "convolutional" or "mlp".
        n: training images.
        n_test: images of the test sample.
        width: w, divisible by four.
        depth: layers.
        noise: share of wrong labels; above 1 - 1/classes there is nothing to learn.
        source: name of the images, as for `simbias.datasets.vision.images`.
        data_dir: folder with the files of MNIST or CIFAR-10.
    """
    one_of("network", network, get_args(Kind))
    positive_integers(width=width, depth=depth)
    key_data, key_network = jax.random.split(key)
    data = images(
        key_data, n=n, n_test=n_test, source=source, noise=noise, data_dir=data_dir
    )
    shape, k = SHAPE[source], CLASSES[source]
    patch = (2, 2) if source == "digits" else (4, 4)
    numbers = patch_numbers(shape, patch)
    is_patch = np.arange(numbers.max() + 1)[:, None] == numbers[None, :]
    data = dataclasses.replace(data, features=jnp.asarray(is_patch, jnp.float64))
    if network == "transformer":
        blocks = functools.partial(patch_transformer, depth=depth, heads=HEADS)
        return data, blocks(key_network, image=shape, patch=patch, k=k, width=width)
    if network == "convolutional":
        channels = tuple(max(width // 2, 1) * 2**i for i in range(depth))
        return data, convolutional(
            key_network, image=shape, k=k, channels=channels, p=2 * width
        )
    d = len(numbers)
    return data, torch_default(key_network, d=d, m=2 * width, depth=depth, k=k)


experiment = presets(
    Experiment(
        name="sensitivity_patches",
        make=make,
        cell={"network": get_args(Kind)},
        seeds=10,
        shared=("network",),
        flow=Descent(rate=RATE, optimiser="adam", batch=BATCH),
        loss=cross_entropy,
        times=after_steps(RATE, 0, 10, 20, 40, 70, 110, 160, 220, 300, STEPS),
        measures={"sensitivity": PatchSensitivity(), "accuracy": ClassAccuracy()},
        final={"whole": PatchSensitivity(is_whole=True)},
        dtype="float32",
    ),
    smoke={
        "cell": {"network": ("transformer", "mlp"), "n": 60, "n_test": 20}
        | {"width": 8, "depth": 1},
        "seeds": 6,
        "times": after_steps(RATE, 0, 100, 400),
    },
    paper={
        "cell": {"source": "cifar10", "n": 50_000, "n_test": 10_000}
        | {"width": 128, "depth": 4},
        "seeds": 20,
        "times": after_steps(RATE, 0, 300, 1000, 3000, 10_000, 30_000, 100_000),
    },
)


def on_the_way(part: xr.Dataset) -> xr.DataArray:
    """S where the accuracy on the sample reaches `LEVEL`, interpolated; by seed."""
    reached = first_passage(fit(part), LEVEL)
    return at_times(part["sensitivity"], reached)


def odds(ds: xr.Dataset) -> float:
    """1 − 1/classes: the probability that a random class is another class."""
    return 1 - 1 / CLASSES[str(ds["source"].item())]


by_network = functools.partial(Curves, colour="network")
in_steps = {"xscale": {"value": "symlog", "linthresh": 10}, "xlabel": "steps of Adam"}
fit = lambda part: part["accuracy"].sel(sample="train", drop=True)
figure = Panels(
    by_network(
        "sensitivity",
        mark="o",
        title="one patch is noise: class changes",
        ylim=(0, None),
        **in_steps,
    ),
    by_network(
        lambda part: part["sensitivity"].median("seed"),
        mark="o",
        title="the same: medians, by what is fitted",
        x=lambda part: fit(part).median("seed"),
        xlabel="accuracy on the sample",
        ylim=(0, None),
        laws=(VerticalLaw(LEVEL),),
    ),
    by_network(
        lambda part: part["accuracy"].sel(sample=["test", "train"]),
        line="sample",
        title="accuracy; dashed: on the sample",
        ylim=(0, 1.02),
        **in_steps,
    ),
    Points(
        "whole",
        has_median=False,
        x="network",
        xlabel="",
        title="all patches are noise, at the end",
        ylim=(0, 1.02),
        laws=(Law(lambda part: xr.DataArray(odds(part)), "a guess", ":"),),
    ),
    x=lambda part: part["time"] / RATE,
    names={"network": NAMES, "sample": {"test": "", "train": "on the sample"}},
    size=(3.8, 3.6),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """All fit; order of the networks at the end and during training; whole images."""
    end, chance = ds.isel(time=-1), odds(ds)
    text = "train accuracy at the end, least of all networks"
    source = "ours: what is compared fits alike"
    out = [smallest_of(text, fit(end), (0.97, 1), source)]
    transformer = at(ds, "network", "transformer")
    others = [str(kind) for kind in ds["network"].values if kind != "transformer"]
    for kind in others:
        one, less = ds.sel(network=kind), f"{NAMES.get(kind, kind)} less transformer"
        last = [part["sensitivity"].isel(time=-1) for part in (one, transformer)]
        ways = [on_the_way(part) for part in (one, transformer)]
        text = f"S at train accuracy {LEVEL:.0%}: {less}"
        out += [
            difference_of(f"S at the end: {less}", last[0], last[1], (0, 1), PAPER),
            difference_of(text, ways[0], ways[1], (0, 1), PAPER),
        ]
    band, source = (chance - 0.03, chance + 0.03), "1 − 1/classes; ± 0.03 ours"
    for kind in ds["network"].values.tolist():
        text = f"control, all patches noise, {NAMES.get(kind, kind)}: S"
        out.append(mean_of(text, end["whole"].sel(network=kind), band, source))
    steps = float(ds["time"][-1]) / RATE
    is_wide = int(ds["width"].max()) >= 16
    needs = {f"{STEPS} steps": steps >= STEPS - 0.5, "a width of 16 or more": is_wide}
    return Claims(needs).rows(*out)
