"""Patch sensitivity: how often a patch of noise changes the class, by architecture.

A vision transformer, a convolutional network and a perceptron learn the classes of the
same small images until they fit them.  The sensitivity is the share of pairs of an
image and one of its patches for which the class changes when noise is in the place of
that patch.  The published order is transformer below convolutional network and
perceptron, at the same accuracy on the sample.

Control: when every patch is noise nothing of the image is left, and whatever the
network is, it says the class of the image with odds of one in the number of classes.

Reference: Vasudeva, Fu, Zhou, Kau, Huang & Sharan (2024), arXiv:2403.06925, of CIFAR-10
and other images; images, sizes, rate and steps are ours.
"""

import dataclasses
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.first_passage import first_passage
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.images import SHAPE, Source, images
from simbias.experiment_presets import presets
from simbias.experiments._at_times import at_times
from simbias.figures import law_level
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy, PatchSensitivity
from simbias.networks import convolutional, patch_transformer, torch_default
from simbias.numerics.patches import patch_numbers
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

AXES = ("network",)
PAPER = "Vasudeva et al. (2024), arXiv:2403.06925"
Kind = Literal["transformer", "convolutional", "mlp"]
NAMES = {"mlp": "perceptron"}
RATE, BATCH, STEPS = 2e-3, 50, 400
HEADS = 4
CLASSES = {"digits": 10, "mnist": 10, "cifar10": 10, "dead_leaves": 3}
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
        key: of the sample and of the start.
        network: "transformer", "convolutional" or "mlp".
        n: images to train.
        n_test: of the test sample.
        width: w, divisible by four.
        depth: layers.
        noise: share of wrong labels; above 1 - 1/classes there is nothing to learn.
        source: of the images, as for `simbias.datasets.vision.images`.
        data_dir: folder with the files of MNIST or CIFAR-10.

    Raises:
        ValueError: for a name that is not known, or a size or number out of range.
    """
    one_of("network", network, get_args(Kind))
    for name, size in (("width", width), ("depth", depth)):
        positive_integer(name, size)
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
        return data, patch_transformer(
            key_network,
            image=shape,
            patch=patch,
            k=k,
            width=width,
            depth=depth,
            heads=HEADS,
        )
    if network == "convolutional":
        channels = tuple(max(width // 2, 1) * 2**i for i in range(depth))
        return data, convolutional(
            key_network, image=shape, k=k, channels=channels, p=2 * width
        )
    d = len(numbers)
    return data, torch_default(key_network, d=d, m=2 * width, depth=depth, k=k)


def _times(*steps: int) -> tuple[float, ...]:
    return tuple(RATE * step for step in steps)


experiment = presets(
    Experiment(
        name="sensitivity_patches",
        make=make,
        cell={"network": get_args(Kind)},
        seeds=10,
        shared=("network",),
        flow=Descent(rate=RATE, optimiser="adam", batch=BATCH),
        loss=cross_entropy,
        times=_times(0, 10, 20, 40, 70, 110, 160, 220, 300, STEPS),
        measures={"sensitivity": PatchSensitivity(), "accuracy": ClassAccuracy()},
        final={"whole": PatchSensitivity(is_whole=True)},
        dtype="float32",
    ),
    smoke={
        "cell": {
            "network": ("transformer", "mlp"),
            "n": 60,
            "n_test": 20,
            "width": 8,
            "depth": 1,
        },
        "seeds": 6,
        "times": _times(0, 100, 400),
    },
    paper={
        "cell": {
            "source": "cifar10",
            "n": 50_000,
            "n_test": 10_000,
            "width": 128,
            "depth": 4,
        },
        "seeds": 20,
        "times": _times(0, 300, 1000, 3000, 10_000, 30_000, 100_000),
    },
)


def on_the_way(part: xr.Dataset) -> xr.DataArray:
    """S where `LEVEL` of the sample is first told, linear between records; by seed."""
    reached = first_passage(part["accuracy"].sel(sample="train", drop=True), LEVEL)
    return at_times(part["sensitivity"], reached)


def figure(ds: xr.Dataset) -> Figure:
    """Sensitivity by step, and by what is fitted; accuracies; all patches noise."""
    kinds = [str(v) for v in ds["network"].values]
    steps = ds["time"] / RATE
    with style():
        whole = blank(15.0, 3.8)
        first, second, third, last = whole.subplots(1, 4)
        for i, (kind, colour) in enumerate(zip(kinds, COLOURS, strict=False)):
            part, name = ds.sel(network=kind), NAMES.get(kind, kind)
            seen = part["sensitivity"]
            band(first, steps, seen, "o-", colour=colour, label=name, ms=4)
            for sample, line in (("train", ":"), ("test", "-")):
                told = part["accuracy"].sel(sample=sample)
                band(third, steps, told, line, colour=colour)
            fit = part["accuracy"].sel(sample="train").median("seed")
            second.plot(fit, seen.median("seed"), "o-", color=colour, ms=4)
            values = part["whole"].values
            last.plot(np.full(values.size, i), values, "o", color=colour, ms=4)
        for axes in (first, third):
            axes.set_xscale("symlog", linthresh=10)
            axes.set_xlabel("steps of Adam")
        first.set(title="one patch is noise: class changes", ylim=(0, None))
        first.legend()
        second.set(xlabel="accuracy on the sample", ylim=(0, None))
        second.set_title("the same: medians, by what is fitted")
        second.axvline(LEVEL, color="black", ls=":", lw=1)
        third.set(title="accuracy; dotted: on the sample", ylim=(0, 1.02))
        last.set_xticks(range(len(kinds)), [NAMES.get(k, k) for k in kinds])
        last.set(xlim=(-0.5, len(kinds) - 0.5), ylim=(0, 1.02))
        last.set_title("all patches are noise, at the end")
        law_level(last, 1 - 1 / CLASSES[str(ds["source"].item())])
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """All fit; who is less sensitive, at the end and on the way; whole images."""
    kinds = [str(v) for v in ds["network"].values]
    end = ds.isel(time=-1)
    text = "accuracy on the sample at the end, least of all networks"
    fit = end["accuracy"].sel(sample="train")
    out = [smallest_of(text, fit, (0.97, 1), "ours: what is compared fits alike")]
    others = [kind for kind in kinds if kind != "transformer"]
    for kind in others if "transformer" in kinds else []:
        one, other = (ds.sel(network=k, drop=True) for k in (kind, "transformer"))
        name, last = NAMES.get(kind, kind), lambda v: v["sensitivity"].isel(time=-1)
        text = f"S at the end: {name} less transformer"
        out.append(difference_of(text, last(one), last(other), (0, 1), PAPER))
        text = f"S where {LEVEL:.0%} of the sample are told: {name} less transformer"
        ways = on_the_way(one), on_the_way(other)
        out.append(difference_of(text, ways[0], ways[1], (0, 1), PAPER))
    odds = 1 - 1 / CLASSES[str(ds["source"].item())]
    for kind in kinds:
        text = f"control, all patches noise, {NAMES.get(kind, kind)}: S"
        seen = end["whole"].sel(network=kind)
        low, high = odds - 0.03, odds + 0.03
        out.append(mean_of(text, seen, (low, high), "1 − 1/classes; ± 0.03 ours"))
    steps = float(ds["time"][-1]) / RATE
    is_wide = int(ds["width"].max()) >= 16
    needs = {f"{STEPS} steps": steps >= STEPS - 0.5, "a width of 16 or more": is_wide}
    return Claims(needs).rows(*out)
