"""Slabs: networks use the simplest of fifty coordinates that each suffice.

In LMS-5 the first coordinate is linear and the others have five slabs; in MS-5-7 the
first has five slabs and the others seven.  Each coordinate classifies alone; all of
them together have a far larger margin.  Yet SGD finds a network that depends on the
first coordinate alone.  If this coordinate is randomised, the area under the ROC curve
is ½; if all the others are, it stays 1.  An ensemble of such networks is no better, and
one universal perturbation along the first coordinate changes the answers of all of
them.

In the variant `noisy`, a tenth of the values of the linear coordinate are noise inside
the margin.  Each of the other 49 coordinates has seven slabs and determines the class
without error.  SGD fits the training sample, and depends on the linear coordinate
alone: its test accuracy is that of the linear classifier.  Control: without a linear
coordinate (MS-7) it learns one of the others exactly.  Claims use the first record with
a training accuracy of 0.995, where the published runs end.

In the variant `adversarial`, networks are trained on the worst inputs within 0.3.  This
is larger than the margin of the linear coordinate (0.1), but not than that of all
together (0.7).  They still depend on the linear coordinate alone, and are right on the
7/9 farther than 0.3 from 0.

Reference: Shah et al. (2020), The pitfalls of simplicity bias in neural networks,
arXiv:2006.07710, sections 3 to 5, appendix E.2 for images, and notebooks 01 and 03 to
06 of its repository; adversarial training on slabs is ours.
"""

import functools
from typing import Literal

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.attacks import Norm
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets import slabs
from simbias.experiment_presets import presets
from simbias.experiments._times import step_times
from simbias.experiments.shortcuts._slabs import (
    ATTACK,
    MOVE,
    NETWORKS,
    PLANE,
    RATE,
    SHARES,
    SIGNED_MOVE,
    WAY,
    cases,
    draw_logits,
    measures,
)
from simbias.experiments.shortcuts._slabs_claims import (
    claims_of_noise,
    claims_of_plain,
    claims_under_attack,
)
from simbias.figures import Drawing, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import (
    AdversarialAccuracy,
    DecisionPlane,
    FeatureDependence,
    RandomisedLogits,
    UniversalPerturbation,
)
from simbias.networks import Adversarial, softmax_pair
from simbias.stops import TrainAccuracyAbove

Law = Literal["LMS-5", "LMS-7", "MS-5-7", "MS-5", "MS-7"]
Training = Literal["plain", "l2", "l2-wide", "linf"]
AXES = ("law", "training", "start")
# Slabs of the first coordinate, and of the others.
_SLABS: dict[Law, tuple[Literal[2, 5, 7], Literal[5, 7]]] = {
    "LMS-5": (2, 5),
    "LMS-7": (2, 7),
    "MS-5-7": (5, 7),
    "MS-5": (5, 5),
    "MS-7": (7, 7),
}
# Norm and radius.  The cube moves a coordinate, in random directions, as far as the
# ball does; the wide ball is one within which the linear coordinate no longer pays.
_ATTACKS: dict[str, tuple[Norm, float]] = {
    "l2": ("l2", ATTACK),
    "l2-wide": ("l2", 0.6),
    "linf": ("linf", 0.05),
}


def make(
    key: PRNGKeyArray,
    *,
    law: Law = "LMS-5",
    training: Training = "plain",
    start: Index = 0,
    d: int = 50,
    n: int = 100_000,
    n_test: int = 10_000,
    noise: Real = 0.0,
    m: int = 100,
    depth: int = 2,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, and a network of two logits under softmax cross-entropy.

    Args:
        key: random key of the sample and of the networks.
        law: law of the slabs, such as LMS-5.
        training: plain training, or the norm and radius of the attacks.
        start: number of the network: an ensemble has several on one sample.
        d: entries of an input.
        n: samples to train on.
        n_test: samples of the test set.
        noise: share of the rows whose linear coordinate, if there is one, is noise.
        m: neurons of each hidden layer.
        depth: hidden layers.
    """
    key_data, key_start = jax.random.split(key)
    simple, others = _SLABS[law]
    noise = noise if simple == 2 else 0.0
    law_of = functools.partial(slabs, simple=simple, others=others, noise=noise)
    data = law_of(key_data, n=n, d=d, n_test=n_test)
    network = softmax_pair(jax.random.fold_in(key_start, start), d=d, m=m, depth=depth)
    if training == "plain":
        return data, network
    norm, radius = _ATTACKS[training]
    return data, Adversarial(network, radius=radius, norm=norm)


def _times(last: int, early: int = 50) -> tuple[float, ...]:
    """Every `early` updates where LMS-5 is learned, then every 500, for MS-5-7."""
    updates = {k for k in (*range(0, 500, early), *range(500, last, 500)) if k < last}
    return tuple(RATE * k for k in sorted({*updates, last}))


_FINAL = {"feature_dependence": FeatureDependence(), "decision_plane": DecisionPlane()}

experiment = presets(
    Experiment(
        name="slabs",
        make=make,
        cell={"law": ("LMS-5", "MS-5-7"), "start": (0, 1, 2)},
        seeds=1,
        shared=(*AXES, "m", "depth"),
        flow=Descent(rate=RATE, batch=256, weight_decay=5e-5),
        loss=logistic,
        times=_times(30_000),
        measures=measures(),
        final={
            "logits": RandomisedLogits(),
            **_FINAL,
            "moved": UniversalPerturbation(radius=MOVE),
            "moved_by_label": UniversalPerturbation(radius=SIGNED_MOVE, is_signed=True),
        },
        stop=TrainAccuracyAbove(1 - 1e-4),
        dtype="float32",
    ),
    smoke={
        "cell": {"law": "LMS-5", "start": (0, 1), "depth": 1}
        | {"d": 10, "n": 4096, "n_test": 1024},
        "times": _times(2000),
    },
    paper={"cell": {**NETWORKS, "start": tuple(range(5))}, "times": _times(100_000)},
    noisy={
        "cell": {"law": ("LMS-7", "MS-7"), "start": 0}
        | {"n": 40_000, "noise": 0.1, "m": 300},
        "seeds": 2,
        "flow": Descent(rate=RATE, batch=256, optimiser="momentum", weight_decay=5e-4),
        "times": step_times(RATE, 25_000, 500),
        "final": _FINAL,
        "stop": None,
    },
    noisy_smoke={
        "cell": {"law": "LMS-7", "start": 0, "n": 2048, "m": 100, "depth": 2},
        "seeds": 1,
        "times": step_times(RATE, 1500, 500),
    },
    noisy_paper={
        "cell": {"start": 0},
        "seeds": 5,
        "times": step_times(RATE, 60_000, 500),
    },
    adversarial={
        "cell": {"law": "LMS-5", "training": ("plain", "l2", "linf"), "start": 0},
        "times": _times(3000, 100),
        "final": {
            "attacked": AdversarialAccuracy(radius=ATTACK, rows=10_000),
            "decision_plane": DecisionPlane(),
        },
        "stop": None,
    },
    adversarial_smoke={
        "cell": {"training": "l2", "start": 0, "m": 50},
        "times": _times(400, 100),
    },
    adversarial_paper={
        "cell": {"m": None, "start": 0},
        "seeds": 5,
        "times": _times(20_000, 100),
    },
)


figure = Panels(
    WAY,
    Drawing(
        draw_logits,
        title="test logits",
        xlabel="logit",
        ylabel="test samples",
        needs="logits",
    ),
    SHARES,
    PLANE,
    columns="case",
    of=cases,
    names={"case": {"l2": "ℓ₂ training", "linf": "ℓ∞ training"}},
    size=(5.0, 3.0),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """AUC of the networks and their ensemble, attacks; of noise; under attack."""
    out, whole = [], cases(ds)
    for i in range(whole.sizes["case"]):
        cell = whole.isel(case=i)
        is_noise = float(cell["noise"]) > 0
        plain = claims_of_noise if is_noise else claims_of_plain
        out += (claims_under_attack if "attacked" in cell else plain)(cell)
    return out
