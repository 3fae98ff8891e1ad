"""What noise in the simple coordinate, and training on attacks, leave of it."""

import dataclasses

import numpy as np
import xarray as xr

from simbias.claims import farthest_of, share_of, smallest_of
from simbias.core import Claim
from simbias.experiments._farthest import farthest
from simbias.experiments.shortcuts._slabs import (
    ATTACK,
    PAPER,
    TOLERANCE,
    accuracy_claim,
    auc_claims,
    is_noisy,
    placed,
    within_reach,
)

# Training accuracy at which the published runs on noisy data end.
LEARNED = 0.995


def claims_of_noise(cell: xr.Dataset) -> list[Claim]:
    """Accuracy of the linear classifier and no more; the slabs if they are alone."""
    at = first_learned(cell, LEARNED if is_noisy(cell) else 1 - 1e-4)
    if is_noisy(cell):
        found = _of_noise(cell, at["scores"].sel(score="accuracy"))
    else:
        found = [_of_slabs(cell)]
    found.append(_of_one_coordinate(cell))
    return placed(found, cell, is_learned=bool(at["is_learned"].all()))


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


def claims_under_attack(cell: xr.Dataset) -> list[Claim]:
    """AUC, and accuracy under attack, of a network that sees S alone."""
    auc = cell["scores"].sel(score="auc").isel(time=-1)
    right, share = (
        cell["attacked"].sel(attack=k) for k in ("accuracy", "simple_share")
    )
    aucs = {
        "AUC, S-randomised": farthest(auc.sel(randomised="simple"), 0.5),
        "AUC, Sᶜ-randomised": float(auc.sel(randomised="complex").min(skipna=False)),
    }
    text, alone = f"accuracy under attacks of {ATTACK}", 1 - within_reach(ATTACK)
    least, exact = "share of the attack in S, least", {"tolerance": TOLERANCE}
    found = [
        *auc_claims(cell, aucs, f"{PAPER}, appendix E.2 (images)"),
        accuracy_claim(text, cell, right, alone, "law of |z₀| > 0.3"),
        smallest_of(least, share, (0.95, 1.0), "ours", most=1.0, **exact),
    ]
    # The samples must be learned; attacks cost some at the edge.
    accuracy = cell["train_accuracy"].isel(time=-1)
    return placed(found, cell, is_learned=bool((accuracy > 0.999).all()))
