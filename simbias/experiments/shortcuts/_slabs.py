"""Numbers, panels and bands of networks on slabs."""

from typing import Any

import numpy as np
import xarray as xr

from simbias.analysis.auc_interval import auc_interval
from simbias.analysis.ensemble_auc import ensemble_auc
from simbias.claims import Claims, statistic_of
from simbias.core import AbstractMeasure, Claim, Status
from simbias.figures import COLOURS, Curves, HeatMap, Points, look
from simbias.losses import logistic
from simbias.measures import RandomisedScores, TrainLoss, TrainSignAccuracy
from simbias.verbs.initial import initial

# Attacks are larger than the margin of one coordinate, 0.1, and smaller than that of
# all fifty together, 0.7.
ATTACK = 0.3
# The radius of the published universal perturbations: of MS-(5,7), where all inputs
# move alike here, and of LMS-5, by the sign of the label.
MOVE, SIGNED_MOVE = 0.5, 1.0
# Half the gap between slabs, and the distance of the linear coordinate from 0.
MARGIN = 0.1
PAPER = "Shah et al. (2020), arXiv:2006.07710"
# Learning rate of every run; the networks of the published grid.
RATE = 0.1
NETWORKS = {"depth": (1, 2), "m": (100, 200, 300)}
# Of numbers computed in float32.
TOLERANCE = 1e-5
NAMES = {"nothing": "as it is", "simple": "S-randomised", "complex": "Sᶜ-randomised"}


def measures() -> dict[str, AbstractMeasure]:
    """Measures during training."""
    return {
        "train_loss": TrainLoss(logistic),
        "train_accuracy": TrainSignAccuracy(),
        "scores": RandomisedScores(),
    }


def labels_of(cell: xr.Dataset) -> np.ndarray:
    """±1 for every column of `logits`, for one sample."""
    where = {k: cell[k].item() for k in ("law", "training")}
    first = int(cell["start"][0])
    test = initial(cell, seed=int(cell["seed"]), start=first, **where)[0].test
    assert test is not None
    return np.asarray(test.y[:, 0])


def is_learned(cell: xr.Dataset) -> bool:
    """True if every network has learned its sample to the level of its stop."""
    return bool((cell["status"] == Status.CONVERGED).all())


def placed(claims: list[Claim], cell: xr.Dataset, *, is_learned: bool) -> list[Claim]:
    """Claims on one case, in which every network must have learned its sample."""
    needs = {"that every member has learned its sample": is_learned}
    return Claims(needs, cell["case"].item()).rows(*claims)


def auc_claims(cell: xr.Dataset, aucs: dict[str, float], source: str) -> list[Claim]:
    """½ if the simple coordinate is randomised, 1 otherwise.

    Args:
        cell: one point of the grid.
        aucs: by statement; those with "S-randomised" are expected at ½.
        source: source of all claims.
    """
    half = int(cell["n_test"]) // 2
    chance = NAMES["simple"]
    return [
        statistic_of(text, auc, chance_band(cell), source)
        if text.endswith(f" {chance}")
        else Claim(text, auc_interval(auc, half, half), 0.999, 1.0, source)
        for text, auc in aucs.items()
    ]


def accuracy_claim(
    statement: str, cell: xr.Dataset, values: xr.DataArray, at: float, source: str
) -> Claim:
    """The accuracy on the test sample that is farthest from a law."""
    return statistic_of(
        statement, farthest(values, at), binomial_band(cell, at), source
    )


def aucs_of(cell: xr.Dataset) -> dict[str, dict[str, float]]:
    """AUC of the networks and of their ensembles by what is randomised, by statement.

    The worst: the one farthest from ½ if S is randomised, else from 1.  An ensemble has
    all networks on one sample.
    """
    auc = cell["scores"].sel(score="auc").isel(time=-1)
    samples = [cell.isel(seed=i) for i in range(cell.sizes["seed"])]
    ensembles = xr.concat(
        [ensemble_auc(one["logits"], labels_of(one), dim="start") for one in samples],
        "seed",
    )
    return {
        name: {
            f"{text}, {label}": farthest(
                values.sel(randomised=name), 0.5 if name == "simple" else 1.0
            )
            for text, values in (
                ("AUC", auc),
                ("AUC of the ensemble of networks", ensembles),
            )
        }
        for name, label in NAMES.items()
    }


def binomial_band(cell: xr.Dataset, at: float) -> tuple[float, float]:
    """`at` ∓ four standard errors of a share of the test sample."""
    half = 4 * (at * (1 - at) / int(cell["n_test"])) ** 0.5
    return at - half, at + half


def within_reach(radius: float) -> float:
    """Share of a linear coordinate that such a perturbation moves across 0."""
    return (radius - MARGIN) / (1 - MARGIN)


def chance_band(cell: xr.Dataset) -> tuple[float, float]:
    """½ ∓ (four standard errors of the AUC of a score without information + 0.01)."""
    half = 4 / (3 * int(cell["n_test"])) ** 0.5 + 0.01
    return 0.5 - half, 0.5 + half


def is_noisy(cell: xr.Dataset) -> bool:
    """True if the linear coordinate determines the class only with errors."""
    return float(cell["noise"]) > 0 and cell["law"].item()[0] == "L"


def best_line(cell: xr.Dataset) -> xr.DataArray:
    """Accuracy of the best linear classifier, if the linear coordinate has errors."""
    return (1 - cell["noise"] / 2).where(is_noisy(cell))


def cases(ds: xr.Dataset) -> xr.Dataset:
    """The result over `case`, each law and training, with a name for every one."""
    ds = ds.stack(case=("law", "training")).reset_index("case")
    each = [ds.isel(case=i) for i in range(ds.sizes["case"])]
    right = [_right_under_attack(cell) for cell in each]
    names = [_name(cell, len({*ds["law"].values}) > 1) for cell in each]
    return ds.assign_coords(case=names, attacked_right=("case", right))


def _name(cell: xr.Dataset, has_laws: bool) -> str:
    law, training = cell["law"].item(), cell["training"].item()
    law = f"noisy {law}" if is_noisy(cell) else law
    if "attacked" in cell:
        return f"{law}, {training}" if has_laws else training
    return law if training == "plain" else f"{law}, {training}"


def _right_under_attack(cell: xr.Dataset) -> str:
    """Text for a title; for several networks the smallest value."""
    if "attacked" not in cell:
        return ""
    right = float(cell["attacked"].sel(attack="accuracy").min())
    return f"; {right:.3f} right under attack"


def _of_the_way(part: xr.Dataset) -> xr.DataArray:
    """Training accuracy, and the three test scores: accuracies for noisy data."""
    score, text = ("accuracy",) * 2 if float(part["noise"]) > 0 else ("auc", "AUC")
    test = part["scores"].sel(score=score, randomised=list(NAMES), drop=True)
    test = test.assign_coords(randomised=[f"{text}, {k}" for k in NAMES.values()])
    train = part["train_accuracy"].expand_dims(randomised=["training accuracy"])
    return xr.concat([test, train], "randomised")


def _shown_times(part: xr.Dataset) -> xr.DataArray:
    """Times for a logarithmic axis, with half of the first time instead of 0."""
    time = part["time"]
    return time.where(time > 0, time[1] / 2)


WAY = Curves(
    _of_the_way,
    colour="randomised",
    line="randomised",
    spread="each",
    pooled=("start",),
    x=_shown_times,
    xlabel="time, updates × rate",
    xscale="log",
    ylim=(0.4, 1.03),
    laws=(look.Law(best_line, "best linear classifier"),),
)
"""Scores by time, a line per network."""
SHARES = Points(
    lambda part: part["feature_dependence"].sel(dependence="variance_share"),
    has_median=False,
    x="feature",
    xlabel="coordinate (0: the first)",
    ylim=(-0.03, 1.1),
    title="share of Var f by coordinate",
    needs="feature_dependence",
)
"""Share of the variance by coordinate, a point per network."""
PLANE = HeatMap(
    lambda part: part["decision_plane"].isel(start=0, seed=0),
    x="simple_value",
    y="complex_value",
    limits=(0, 1),
    border=0.5,
    colours="RdBu_r",
    xlabel="first coordinate (S)",
    ylabel="one of Sᶜ with most influence",
    title="P(f > 0){attacked_right}",
)
"""Share classified as positive in the plane of S and the top of Sᶜ, one network."""


def draw_logits(axes: Any, cell: xr.Dataset) -> None:
    """Logits of both classes: as they are (filled) and with S randomised (lines)."""
    cell = cell.isel(seed=0)
    labels, logits = labels_of(cell), cell["logits"].isel(start=0)
    bins = np.linspace(-1, 1, 61) * float(abs(logits).max())
    for sign, name, colour in (
        (-1, "negative", COLOURS[0]),
        (1, "positive", COLOURS[1]),
    ):
        of = logits.isel(sample=labels == sign)
        plain, mixed = (of.sel(randomised=k).values for k in ("nothing", "simple"))
        axes.hist(plain, bins, color=colour, alpha=0.35, label=f"{name}, as it is")
        line = "--" if sign < 0 else "-"
        text = f"{name}, S-randomised"
        axes.hist(mixed, bins, histtype="step", color=colour, ls=line, label=text)
    axes.set_xlabel("logit")
    axes.set_ylabel("test samples")


def farthest(values: xr.DataArray | np.ndarray, law: float) -> float:
    """The entry farthest from `law`, in their own units; NaN if one is NaN."""
    seen = np.ravel(np.asarray(values))
    return float(seen[np.argmax(np.abs(seen - law))])
