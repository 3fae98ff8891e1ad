"""What the experiments on slabs have in common: the laws, the numbers, the panels."""

import functools
from typing import Any, Literal

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.ensemble_auc import ensemble_auc
from simbias.core import AbstractMeasure, AbstractNetwork, Dataset, Real, Status
from simbias.datasets.slabs import slabs
from simbias.ensemble.engine import exact_numerics
from simbias.experiments._curves import value
from simbias.figures.style import COLOURS
from simbias.losses import logistic
from simbias.measures.decision_plane import DecisionPlane
from simbias.measures.feature_dependence import FeatureDependence
from simbias.measures.logit_histogram import LogitHistogram
from simbias.measures.randomised_accuracy import RandomisedAccuracy
from simbias.measures.randomised_auc import RandomisedAuc
from simbias.measures.randomised_logits import RandomisedLogits
from simbias.measures.train_accuracy import TrainAccuracy
from simbias.measures.train_loss import TrainLoss
from simbias.networks.mlp_init import softmax_pair

PAPER = "Shah et al. (2020), arXiv:2006.07710"
Law = Literal["LMS-5", "LMS-7", "MS-5-7", "MS-5", "MS-7"]
# Slabs of the first coordinate, and of the others.
_SLABS: dict[Law, tuple[Literal[2, 5, 7], Literal[5, 7]]] = {
    "LMS-5": (2, 5),
    "LMS-7": (2, 7),
    "MS-5-7": (5, 7),
    "MS-5": (5, 5),
    "MS-7": (7, 7),
}
NAMES = {"nothing": "as it is", "simple": "S-randomised", "complex": "Sᶜ-randomised"}


def sample(
    law: Law, *, draw: int, d: int, n: int, n_test: int, noise: Real = 0.0
) -> Dataset:
    """The sample number `draw`."""
    simple, others = _SLABS[law]
    return slabs(
        jax.random.key(draw),
        n=n,
        d=d,
        simple=simple,
        others=others,
        noise=noise,
        n_test=n_test,
    )


def make(
    key: PRNGKeyArray,
    *,
    law: Law = "LMS-5",
    d: int = 50,
    n: int = 100_000,
    n_test: int = 10_000,
    noise: Real = 0.0,
    m: int = 100,
    depth: int = 2,
    draw: int = 0,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample number `draw`, the same for every seed, and a network of its own.

    The network is that of two logits and softmax cross-entropy; see `softmax_pair`.
    """
    data = sample(law, draw=draw, d=d, n=n, n_test=n_test, noise=noise)
    return data, softmax_pair(key, d=d, m=m, depth=depth)


def measures() -> dict[str, AbstractMeasure]:
    """What is recorded along the way."""
    return {
        "train_loss": TrainLoss(logistic),
        "train_accuracy": TrainAccuracy(),
        "auc": RandomisedAuc(),
        "accuracy": RandomisedAccuracy(),
    }


def final_measures() -> dict[str, AbstractMeasure]:
    """What is recorded at the end."""
    return {
        "logit_histogram": LogitHistogram(),
        "feature_dependence": FeatureDependence(),
        "decision_plane": DecisionPlane(),
        "logits": RandomisedLogits(),
    }


def labels_of(ds: xr.Dataset) -> np.ndarray:
    """±1 for every column of `logits`, for one point of the grid."""
    known = {k: value(ds, k) for k in ("law", "draw", "d", "n", "n_test", "noise")}
    return _labels(**known)


@functools.cache
def _labels(**known: Any) -> np.ndarray:
    with exact_numerics():
        test = sample(**{**known, "n": 1}).test
    assert test is not None
    return np.asarray(test.y[:, 0])


def is_learned(cell: xr.Dataset) -> bool:
    """True if every member has learned the training sample to the level of its stop."""
    return bool((cell["status"] == Status.CONVERGED).all())


def auc_rows(cell: xr.Dataset) -> list[tuple[str, str, float]]:
    """(what is randomised, statement, AUC) of the seeds and of their ensemble.

    Of the seeds the worst: the one farthest from ½ if S is randomised, else the least.
    NaN if a member has not learned the training sample.
    """
    auc = cell["auc"].isel(time=-1).transpose("randomised", "seed")
    together = ensemble_auc(cell["logits"], labels_of(cell))
    rows = []
    for name, label in NAMES.items():
        seen = auc.sel(randomised=name).values
        worst = seen[np.argmax(np.abs(seen - 0.5))] if name == "simple" else seen.min()
        ensemble = together.sel(randomised=name).item()
        rows.append((name, f"AUC, {label}", worst))
        rows.append((name, f"AUC of the ensemble of seeds, {label}", ensemble))
    kept = is_learned(cell)
    return [(n, text, float(v) if kept else np.nan) for n, text, v in rows]


def chance_band(cell: xr.Dataset) -> tuple[float, float]:
    """½ ∓ four standard errors of the AUC of a score that knows nothing, and 0.01."""
    half = 4 / (3 * value(cell, "n_test")) ** 0.5 + 0.01
    return 0.5 - half, 0.5 + half


def draw_way(axes: Any, cell: xr.Dataset) -> None:
    """Training accuracy and the three AUC by time, one line per seed."""
    lines = [("train_accuracy", None, "training accuracy", "black")]
    lines += [
        ("auc", name, f"AUC, {label}", colour)
        for (name, label), colour in zip(NAMES.items(), COLOURS, strict=False)
    ]
    for name, part, label, colour in lines:
        values = cell[name] if part is None else cell[name].sel(randomised=part)
        drawn = axes.plot(
            cell["time"], values.transpose("time", "seed"), lw=1.0, color=colour
        )
        drawn[0].set_label(label)
        if part is None:
            for line in drawn:
                line.set(linestyle=":", zorder=3)
    axes.set_ylim(0.4, 1.03)
    axes.set_xlabel("time, updates × rate")


def draw_logits(axes: Any, cell: xr.Dataset) -> None:
    """Logits of both classes: as they are (filled) and with S randomised (lines)."""
    shares = cell["logit_histogram"].mean("seed")
    logit = shares["logit"].values
    width = logit[1] - logit[0]
    for label, colour in zip(("negative", "positive"), COLOURS[:2], strict=True):
        part = shares.sel(label=label)
        axes.bar(
            logit,
            part.sel(randomised="nothing"),
            width,
            color=colour,
            alpha=0.35,
            label=f"{label}, as it is",
        )
        axes.step(
            logit,
            part.sel(randomised="simple"),
            where="mid",
            color=colour,
            linestyle="--" if label == "negative" else "-",
            label=f"{label}, S-randomised",
        )
    axes.set_xlabel("logit")
    axes.set_ylabel("share of the class")


def draw_plane(axes: Any, cell: xr.Dataset) -> None:
    """Share classified as positive in the plane of S and the top of Sᶜ, one seed."""
    plane = cell["decision_plane"].isel(seed=0)
    x, y = plane["simple_value"].values, plane["complex_value"].values
    values = plane.transpose("complex_value", "simple_value").values
    axes.pcolormesh(x, y, values, cmap="RdBu_r", vmin=0, vmax=1, alpha=0.7)
    axes.contour(x, y, values, levels=[0.5], colors="black", linewidths=1)
    axes.grid(visible=False)
    axes.set_xlabel("simple coordinate")
    axes.set_ylabel("complex one of most influence")
