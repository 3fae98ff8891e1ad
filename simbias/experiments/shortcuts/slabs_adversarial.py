"""Adversarial training does not turn a network away from the simple coordinate.

On LMS-5, attacks of length 0.3 reach past the margin of the linear coordinate (0.1) but
not past that of all coordinates together (0.7 for a network that uses the fifty).  A
network trained on the worst inputs within 0.3 could thus be right on all of them; it
still depends on the linear coordinate alone, and is as easily attacked as one trained
on the samples themselves: on 7/9 of them, those farther than 0.3 from 0, it is right.

Reference: Shah et al. (2020), The pitfalls of simplicity bias in neural networks,
arXiv:2006.07710, appendix E.2 and notebook 05 of its repository, for images; the
experiment on slabs is ours.
"""

import dataclasses
from typing import Literal

import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.attacks import Norm
from simbias.claims import smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.experiments._farthest import farthest
from simbias.experiments.shortcuts import _slabs
from simbias.figures import Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import AdversarialAccuracy, DecisionPlane
from simbias.networks import Adversarial
from simbias.presets import presets

Training = Literal["plain", "l2", "l2-wide", "linf"]
# Norm and radius.  The cube moves a coordinate, in random directions, as far as the
# ball does; the wide ball is one within which the linear coordinate no longer pays.
_ATTACKS: dict[str, tuple[Norm, float]] = {
    "l2": ("l2", _slabs.ATTACK),
    "l2-wide": ("l2", 0.6),
    "linf": ("linf", 0.05),
}
# What the figure and the claims read.
AXES = ("training",)


def make(
    key: PRNGKeyArray,
    *,
    training: Training = "l2",
    law: _slabs.Law = "LMS-5",
    d: int = 50,
    n: int = 100_000,
    n_test: int = 10_000,
    m: int = 100,
    depth: int = 2,
    draw: Index = 0,
) -> tuple[Dataset, AbstractNetwork]:
    """As `slabs`, with a network that is trained on attacks unless "plain".

    Args:
        key: random key.
        training: plain, or on attacks of which norm and radius.
        law: of the slabs, as LMS-5.
        d: entries of an input.
        n: samples to train on.
        n_test: samples of the test set.
        m: neurons of each of them.
        depth: hidden layers.
        draw: number of the draw of the sample, the same for all seeds of one number.
    """
    data, network = _slabs.make(
        key, law=law, d=d, n=n, n_test=n_test, m=m, depth=depth, draw=draw
    )
    if training == "plain":
        return data, network
    norm, radius = _ATTACKS[training]
    return data, Adversarial(network, radius=radius, norm=norm)


def _times(last: int) -> tuple[float, ...]:
    updates = {k for k in (*range(0, 500, 100), *range(500, last, 500)) if k < last}
    return tuple(_slabs.RATE * k for k in sorted({*updates, last}))


experiment = presets(
    Experiment(
        name="slabs_adversarial",
        make=make,
        cell={"training": ("plain", "l2", "linf")},
        seeds=1,
        flow=Descent(rate=_slabs.RATE, batch=256, weight_decay=5e-5),
        loss=logistic,
        times=_times(3000),
        measures=_slabs.measures(),
        final={
            "attacked": AdversarialAccuracy(radius=_slabs.ATTACK, rows=10_000),
            "decision_plane": DecisionPlane(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {
            "training": "l2",
            "d": 10,
            "n": 4096,
            "n_test": 1024,
            "m": 50,
            "depth": 1,
        },
        "times": _times(400),
    },
    paper={"cell": {"depth": (1, 2)}, "seeds": 5, "times": _times(20_000)},
)


def with_accuracy(ds: xr.Dataset) -> xr.Dataset:
    """The result with the accuracy under attack, the least of the seeds."""
    right = ds["attacked"].sel(attack="accuracy").min("seed")
    return ds.assign_coords(right=("training", right.values))


figure = Panels(
    _slabs.way(),
    dataclasses.replace(_slabs.PLANE, title="P(f > 0); {right:.3f} right under attack"),
    columns="training",
    names={"training": "training"},
    legend=2,
    of=with_accuracy,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """AUC, and accuracy under attack, of a network that sees S alone."""
    out = []
    for i in range(ds.sizes["training"]):
        cell = ds.isel(training=i)
        # The samples must be learned; attacks cost some at the edge.
        accuracy = cell["train_accuracy"].isel(time=-1)
        kept = bool((accuracy > 0.999).all())
        out += _slabs.placed(_of(cell), cell["training"].item(), is_learned=kept)
    return out


def _of(cell: xr.Dataset) -> list[Claim]:
    auc = cell["scores"].sel(score="auc").isel(time=-1)
    right, share = (
        cell["attacked"].sel(attack=k) for k in ("accuracy", "simple_share")
    )
    alone = 1 - _slabs.within_reach(_slabs.ATTACK)
    aucs = {
        "AUC, S-randomised": farthest(auc.sel(randomised="simple"), 0.5),
        "AUC, Sᶜ-randomised": float(auc.sel(randomised="complex").min(skipna=False)),
    }
    text, least = (
        f"accuracy under attacks of {_slabs.ATTACK}",
        "share of the attack in S",
    )
    return [
        *_slabs.auc_claims(cell, aucs, f"{_slabs.PAPER}, appendix E.2 (images)"),
        _slabs.accuracy_claim(text, cell, right, alone, "law of |z₀| > 0.3"),
        smallest_of(
            f"{least}, least",
            share,
            (0.95, 1.0),
            "ours",
            tolerance=_slabs.TOLERANCE,
            most=1.0,
        ),
    ]
