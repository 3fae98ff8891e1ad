"""A network looks at the simplest of fifty coordinates that all tell the class.

In LMS-5 the first coordinate is linear and the others have five slabs; in MS-5-7 the
first has five slabs and the others seven.  Every coordinate classifies alone, and all
of them together do so with a far larger margin.  Yet SGD finds a network that depends
on the first alone: with it randomised the area under the ROC curve is ½, with all the
others randomised it stays 1.  An ensemble of such networks is no better, and one
universal perturbation along the first coordinate breaks them all.  One that moves every
input by the sign of its label leaves more right than was published: on the network that
this is about, which `quick` does not have, the claim fails.

Reference: Shah et al. (2020), The pitfalls of simplicity bias in neural networks,
arXiv:2006.07710, sections 3 and 4, and notebooks 01, 04 and 06 of
its repository.
"""

import json

import xarray as xr

from simbias.claims import largest_of, smallest_of
from simbias.core import Claim, Experiment
from simbias.experiments.shortcuts._slabs import (
    MOVE,
    NETWORKS,
    PAPER,
    PLANE,
    RATE,
    SIGNED_MOVE,
    TOLERANCE,
    accuracy_claim,
    auc_claims,
    aucs_of,
    binomial_band,
    draw_logits,
    is_learned,
    make,
    measures,
    placed,
    way,
    within_reach,
)
from simbias.figures import Drawing, Panels
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import (
    DecisionPlane,
    FeatureDependence,
    RandomisedLogits,
    UniversalPerturbation,
)
from simbias.presets import presets
from simbias.stops import TrainAccuracyAbove

# What the figure and the claims read.
AXES = ("law",)


def _times(last: int) -> tuple[float, ...]:
    """Every 50 updates where LMS-5 learns, then every 500, where MS-5-7 does."""
    return tuple(RATE * k for k in (*range(0, 500, 50), *range(500, last + 1, 500)))


experiment = presets(
    Experiment(
        name="slabs",
        make=make,
        cell={"law": ("LMS-5", "MS-5-7")},
        seeds=3,
        flow=Descent(rate=RATE, batch=256, weight_decay=5e-5),
        loss=logistic,
        times=_times(30_000),
        measures=measures(),
        final={
            "logits": RandomisedLogits(),
            "feature_dependence": FeatureDependence(),
            "decision_plane": DecisionPlane(),
            "moved": UniversalPerturbation(radius=MOVE),
            "moved_by_label": UniversalPerturbation(radius=SIGNED_MOVE, is_signed=True),
        },
        stop=TrainAccuracyAbove(1 - 1e-4),
        dtype="float32",
    ),
    smoke={
        "cell": {"law": "LMS-5", "d": 10, "n": 4096, "n_test": 1024, "depth": 1},
        "seeds": 2,
        "times": _times(2000),
    },
    paper={"cell": NETWORKS, "seeds": 5, "times": _times(100_000)},
)


figure = Panels(
    way(),
    Drawing(draw_logits, title="test logits", xlabel="logit", ylabel="test samples"),
    PLANE,
    rows="law",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """AUC of every network and of their ensemble; what a universal attack does."""
    out = []
    for i in range(ds.sizes["law"]):
        cell = ds.isel(law=i)
        law = cell["law"].item()
        aucs = aucs_of(cell)
        found = auc_claims(cell, aucs["nothing"], PAPER)
        # Without a simple coordinate the others have no meaning.
        if law not in ("MS-5", "MS-7"):
            found += auc_claims(cell, aucs["simple"] | aucs["complex"], PAPER)
            found.append(_of_the_rest(cell))
        if law in _MOVED:
            found += _of_the_attack(cell, law)
        out += placed(found, law, is_learned=is_learned(cell))
    return out


# What is published of LMS-5 after a move of 1 by the sign of the label.
SIGNED = 0.0066
# Accuracy if all inputs move by `MOVE` along the simple coordinate: half of the class
# within reach; the negative slab on the far side, one in sixteen samples.
_MOVED = {"LMS-5": 1 - within_reach(MOVE) / 2, "LMS-7": 1 - within_reach(MOVE) / 2}
_MOVED["MS-5-7"] = 1 / 16


def _of_the_rest(cell: xr.Dataset) -> Claim:
    """What the AUC does not show: how much of the variance is due to the rest."""
    shares = cell["feature_dependence"].sel(dependence="variance_share")
    rest = shares.isel(feature=slice(1, None))
    text = "largest share of Var f of a complex coordinate"
    return largest_of(text, rest, (0.0, 0.01), "ours", tolerance=TOLERANCE)


def _of_the_attack(cell: xr.Dataset, law: str) -> list[Claim]:
    accuracy, share = (
        cell["moved"].sel(attack=k) for k in ("accuracy", "simple_share")
    )
    source = f"{PAPER}, notebook 06" + ("" if law[0] == "M" else "; value of the law")
    text, least = f"accuracy after one move of {MOVE}", "share of the move in S, least"
    return [
        accuracy_claim(text, cell, accuracy, _MOVED[law], source),
        smallest_of(least, share, (0.95, 1.0), source, tolerance=TOLERANCE, most=1.0),
        *([_of_the_signed_attack(cell)] if law == "LMS-5" else []),
    ]


def _of_the_signed_attack(cell: xr.Dataset) -> Claim:
    """Published is one accuracy, of one network; four standard errors are allowed for.

    Other networks are not asked: how much is left hangs on how far v is from S.
    """
    seen = cell["moved_by_label"].sel(attack="accuracy")
    text = f"accuracy after a move of {SIGNED_MOVE:g} by the sign of the label, largest"
    _, most = binomial_band(cell, SIGNED)
    source = f"{PAPER}, notebook 06: {SIGNED} for 200 × 1 neurons and a decay of 5e-4"
    claim = largest_of(text, seen, (0.0, most), source)
    stored = json.loads(cell.attrs["configuration"])["flow"]["weight_decay"]
    decay = float(cell.coords.get("flow.weight_decay", stored))
    network = int(cell["m"]), int(cell["depth"]), decay
    return claim.given(network == (200, 1, 5e-4), "200 × 1 neurons, a decay of 5e-4")
