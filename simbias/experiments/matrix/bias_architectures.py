"""Rows of the matrix for a ResNet on images and a transformer on strings.

The matrix has fully connected networks.  Here the same numbers, with the same smallest
values that count, are those of two architectures that are used in practice: a residual
network with batch normalisation on digits, and (preset `strings`) a transformer on
strings of bits.  Each has the three rows that are defined for it:

    distributional   ResNet: it departs from a clone with the means of the classes
                     before it departs from one with their covariances
    sensitivity      transformer: ½ − S once random labels are fitted
    randomised       both: share of AUC − ½ that is lost with the simple feature
                     exchanged, where a complex one is as predictive
    information      both: share of the first information that a line has as well

The controls: with the complex feature exchanged instead the AUC stays; networks do
depart from the clone of covariances; later they know what the line does not.

Reference: the papers of the rows: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567;
Shah et al. (2020), arXiv:2006.07710; Kalimeris, Nakkiran et al. (2019),
arXiv:1905.11604; Bhattamishra et al. (2023), arXiv:2211.12316.  Tasks, sizes and rule
are ours.
"""

import dataclasses
from typing import Literal, get_args

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.effects import member_effects
from simbias.analysis.first_passage import first_passage
from simbias.analysis.parts import with_axes
from simbias.analysis.verdicts import effect_interval
from simbias.claims import difference_of, estimate_of, largest_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_steps
from simbias.experiments.matrix._architecture_tasks import (
    SIDE,
    ImageBias,
    StringBias,
    image_task,
    string_task,
)
from simbias.experiments.matrix._numbers import LEFT
from simbias.experiments.matrix._rows import ROWS
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import (
    ClassSeparation,
    ExplainedInformation,
    RandomisedAuc,
    Sensitivity,
    TestSignAccuracy,
    TrainLoss,
    TrainSignAccuracy,
)
from simbias.networks import resnet, transformer
from simbias.validation.sample import one_of

AXES = ("bias", "architecture")
Architecture = Literal["resnet", "transformer"]
BIASES: dict[str, tuple[str, ...]] = {
    "resnet": get_args(ImageBias),
    "transformer": get_args(StringBias),
}
PAPERS = {
    "distributional": "Refinetti et al. (2023), arXiv:2211.11567",
    "randomised": "Shah et al. (2020), arXiv:2006.07710",
    "information": "Kalimeris et al. (2019), arXiv:1905.11604",
    "sensitivity": "Bhattamishra et al. (2023), arXiv:2211.12316",
}
BANDS = {
    "distributional": (0.5, 1.0),
    "randomised": (0.75, 1.25),
    "information": (0.75, 1.25),
    "sensitivity": (0.05, 0.5),
}
# The rule of the matrix; all entries have a meaning here, and a test accuracy.
_RIGHT = lambda part: part["test_accuracy"].isel(time=-1, drop=True) >= 0.75
EFFECTS = {
    name: dataclasses.replace(
        ROWS[name],
        why_undefined=lambda _: "",
        is_learned=_RIGHT if name == "distributional" else ROWS[name].is_learned,
    )
    for name in BANDS
}
STEPS = 300


def make(
    key: PRNGKeyArray,
    *,
    bias: str = "distributional",
    architecture: Architecture = "resnet",
    n: int = 600,
    n_class: int = 200,
    channels: int = 8,
    stages: int = 2,
    width: int = 16,
    depth: int = 2,
) -> tuple[Dataset, AbstractNetwork]:
    """The task of a bias for an architecture, and its network.

    Args:
        key: random key.
        bias: "distributional" (ResNet), "sensitivity" (transformer), "randomised" or
            "information".
        architecture: "resnet" or "transformer".
        n: samples; of "sensitivity" 128.
        n_class: test images of each class.
        channels: of the first stage of the ResNet, doubled in each further one.
        stages: of the ResNet, one block each.
        width: entries of a state of the transformer.
        depth: layers of the transformer.

    Raises:
        ValueError: for a bias that is not defined for the architecture.
    """
    one_of("architecture", architecture, tuple(BIASES))
    one_of("bias", bias, BIASES[architecture])
    key_data, key_network = jax.random.split(key)
    if architecture == "resnet":
        data = image_task(key_data, bias, n, n_class)
        image, widths = (1, SIDE, SIDE), tuple(channels * 2**i for i in range(stages))
        return data, resnet(key_network, image=image, k=1, widths=widths, depth=1)
    data = string_task(key_data, bias, n)
    bits = data.x.shape[1]
    return data, transformer(key_network, n=bits, width=width, depth=depth)


_SHARED = {
    "loss": TrainLoss(logistic),
    "train_accuracy": TrainSignAccuracy(),
    "test_accuracy": TestSignAccuracy(),
    "auc": RandomisedAuc(),
    "information": ExplainedInformation(("linear",), shuffles=5),
}
experiment = presets(
    Experiment(
        name="bias_architectures",
        make=make,
        cell={"bias": BIASES["resnet"], "architecture": "resnet"},
        seeds=12,
        flow=Descent(optimiser="adam", rate=3e-3, batch=32, counts_steps=True),
        loss=logistic,
        times=log_steps(1.0, 1, STEPS, 16),
        measures={**_SHARED, "separation": ClassSeparation(("means", "covariances"))},
        dtype="float32",
    ),
    smoke={
        "cell": {"channels": 2, "stages": 1, "width": 4, "n": 64},
        "seeds": 2,
        "times": (0.0, 4.0),
    },
    paper={
        "cell": {"channels": 64, "stages": 4, "width": 64, "depth": 4},
        "seeds": 20,
    },
    strings={
        "cell": {"bias": BIASES["transformer"], "architecture": "transformer"}
        | {"n": 512},
        "times": log_steps(1.0, 1, 1000, 12),
        "measures": {**_SHARED, "sensitivity": Sensitivity()},
    },
)


def staged(ds: xr.Dataset) -> xr.DataArray:
    """The number of the matrix for a bias, at every time."""
    return EFFECTS[str(ds["bias"].item())].staged(ds)


def least(ds: xr.Dataset) -> xr.DataArray:
    """The smallest value that counts."""
    return xr.DataArray(EFFECTS[str(ds["bias"].item())].least_staged)


figure = Panels(
    Curves(staged, spread="each", laws=(Law(least, "counts from", ":", "black"),)),
    columns="bias",
    rows="architecture",
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel="steps of Adam",
    xscale="log",
    names={"bias": {name: one.title for name, one in EFFECTS.items()}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The number of every row, and its control."""
    ds = with_axes(ds, AXES)
    found = member_effects(ds, EFFECTS, "bias", "architecture")["scalar"]
    out = []
    for architecture in ds["architecture"].values:
        for bias in map(str, ds["bias"].values):
            at = {"bias": bias, "architecture": architecture}
            row, values = EFFECTS[bias], found.sel(at).values
            seen = effect_interval(values, low=row.low, high=row.high)
            text, paper = f"{architecture}, {row.title}", f"{PAPERS[bias]}; band ours"
            out.append(estimate_of(f"{text}: {row.text}", seen, BANDS[bias], paper))
            out += _control(text, bias, ds.sel(at, drop=True), paper)
    return out


def _control(text: str, bias: str, part: xr.Dataset, paper: str) -> list[Claim]:
    if bias == "randomised":
        whole, _, other = (part["auc"].isel(time=-1, randomised=i) for i in range(3))
        lost = (whole - other) / (whole - 0.5)
        told = f"control, {text}: largest share lost, the complex one exchanged"
        return [largest_of(told, lost.values, (-0.25, 0.25), paper)]
    if bias == "information":
        told = f"control, {text}: at the end less at half of the information"
        ends = staged(part.assign_coords(bias=bias)).isel(time=-1).values
        first = EFFECTS[bias].number(part).values
        return [difference_of(told, ends, first, (-np.inf, 0.0), paper)]
    if bias == "distributional":
        of = lambda name: part["separation"].sel(rows=name, drop=True)
        gap = abs(of("real") - of("covariances"))
        departs = first_passage(gap, LEFT).notnull()
        told = f"control, {text}: networks that depart from the clone of covariances"
        return [share_of(told, departs.values, (0.5, 1.0), paper)]
    return []
