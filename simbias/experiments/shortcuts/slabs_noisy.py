"""The simplest coordinate wins although it is the only one that errs.

In the noisy LMS-7 data a tenth of the values of the linear coordinate are noise inside
the margin, so that no linear classifier passes 95 %; each of the other 49 coordinates,
of seven slabs, tells the class without error.  SGD fits the training sample, and the
network still depends on the linear coordinate alone: what it needs the others for does
not generalise, and its test accuracy is that of the linear classifier.  Without a
linear coordinate (MS-7) the same network learns one of the slab coordinates, exactly.

The published runs end at a training accuracy of 0.995; here every run has the same
length, and the claims on noisy data are read off at the first record of 0.995.

Reference: Shah et al. (2020), The pitfalls of simplicity bias in neural networks,
arXiv:2006.07710, section 5, and notebook 03 of its repository.
"""

import dataclasses

import numpy as np
import xarray as xr

from simbias.claims import farthest_of, share_of
from simbias.core import Claim, Experiment
from simbias.experiments._times import step_times
from simbias.experiments.shortcuts._slabs import (
    NETWORKS,
    PAPER,
    PLANE,
    RATE,
    SHARES,
    accuracy_claim,
    make,
    measures,
    placed,
    way,
)
from simbias.figures import Law, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import DecisionPlane, FeatureDependence
from simbias.presets import presets

# Training accuracy at which the published runs on noisy data end.
LEARNED = 0.995
# What the figure and the claims read.
AXES = ("law",)


# `noise` is that of the linear coordinate, if the law has one.
experiment = presets(
    Experiment(
        name="slabs_noisy",
        make=make,
        cell={"law": ("LMS-7", "MS-7"), "n": 40_000, "noise": 0.1, "m": 300},
        seeds=2,
        flow=Descent(rate=RATE, batch=256, optimiser="momentum", weight_decay=5e-4),
        loss=logistic,
        times=step_times(RATE, 25_000, 500),
        measures=measures(),
        final={
            "feature_dependence": FeatureDependence(),
            "decision_plane": DecisionPlane(),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {"law": "LMS-7", "d": 10, "n": 2048, "n_test": 1024, "m": 100},
        "seeds": 1,
        "times": step_times(RATE, 1500, 500),
    },
    paper={"cell": NETWORKS, "seeds": 5, "times": step_times(RATE, 60_000, 500)},
)


def best_line(part: xr.Dataset) -> xr.DataArray:
    """Accuracy of the best linear classifier, where a coordinate is linear."""
    return (1 - part["noise"] / 2).where(part["law"].item()[0] == "L")


figure = Panels(
    way("accuracy", laws=(Law(best_line, "best linear classifier"),)),
    SHARES,
    PLANE,
    rows="law",
    names={"law": {"LMS-5": "noisy LMS-5", "LMS-7": "noisy LMS-7"}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Accuracy of the linear classifier and no more; the slabs if they are alone."""
    out = []
    for i in range(ds.sizes["law"]):
        cell = ds.isel(law=i)
        where = cell["law"].item()
        is_noisy = where[0] == "L"
        at = first_learned(cell, LEARNED if is_noisy else 1 - 1e-4)
        if is_noisy:
            found = _of_noise(cell, at["scores"].sel(score="accuracy"))
            where = f"noisy {where}"
        else:
            found = [_of_slabs(cell)]
        found.append(_of_one_coordinate(cell))
        out += placed(found, where, is_learned=bool(at["is_learned"].all()))
    return out


def first_learned(cell: xr.Dataset, level: float) -> xr.Dataset:
    """Every member at its first record with this training accuracy, as published runs.

    `is_learned` is false where there is none.
    """
    reached = cell["train_accuracy"] >= level
    first = cell[["scores", "train_accuracy"]].isel(time=reached.argmax("time"))
    return first.assign(is_learned=reached.any("time"))


def _of_noise(cell: xr.Dataset, accuracy: xr.DataArray) -> list[Claim]:
    """Accuracies farthest from what the best linear classifier has."""
    best = 1 - float(cell["noise"]) / 2
    return [
        accuracy_claim(text, cell, accuracy.sel(randomised=name), at, PAPER)
        for name, text, at in (
            ("nothing", "test accuracy", best),
            ("simple", "accuracy, S-randomised", 0.5),
            ("complex", "accuracy, Sᶜ-randomised", best),
        )
    ]


def _of_slabs(cell: xr.Dataset) -> Claim:
    """The least test accuracy at the end."""
    end = cell["scores"].sel(score="accuracy", randomised="nothing").isel(time=-1)
    least, n_test = float(end.min(skipna=False)), int(cell["n_test"])
    is_right = np.arange(n_test) < round(np.nan_to_num(least) * n_test)
    claim = share_of("test accuracy", is_right, (0.999, 1.0), PAPER)
    seen = dataclasses.replace(claim.estimate, value=least)
    return dataclasses.replace(claim, estimate=seen)


def _of_one_coordinate(cell: xr.Dataset) -> Claim:
    shares = cell["feature_dependence"].sel(dependence="variance_share")
    text = "coordinates with over 5 % of Var f, farthest from 1"
    return farthest_of(text, (shares > 0.05).sum("feature"), 1.0, (1.0, 1.0), "ours")
