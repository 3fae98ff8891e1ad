"""Training on clones: agreement with the real data while moments are shared.

The data have four classes, and each class has three clones: Gaussian with its mean and
one variance; Gaussian with its mean and covariance; independent inputs with its
marginals.  One network is trained on the real samples and one on each clone, with the
same initialisation and the same indices in every batch.  All are tested on real
samples.

Which moments does the real network use?  To test this, we edit test samples to resemble
another class, the target.  The edit is a shift of the mean, quantiles of each input, or
optimal transport to the mean and covariance.  The accuracy for the target is recorded
over time.

The control is a linear network (`distributional_linear`).  Under the squared loss it
depends only on Σ xxᵀ and Σ yxᵀ, which the clone of covariances shares.

Reference: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567, section 2; Belrose et
al. (2024), arXiv:2402.04362; the law of four classes and all numbers are ours.
"""

import numpy as np
import xarray as xr

from simbias.analysis.at import at
from simbias.claims import difference_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.order._clones import EDITS, TRAINED_ON, make
from simbias.experiments.order._departure import REFINETTI, order_of_clones
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import RealAccuracy, RealError, TargetAccuracy

BELROSE = "arXiv:2402.04362"
AXES = ("network",)
RATE = 0.005
CHANCE = 0.25
# Edits that exchange what single inputs say; transport exchanges pairs as well.
FIRST_ORDER = ("shift", "quantiles")
# What the claims are about.
LEAST_TIME = 8000 * RATE

experiment = presets(
    Experiment(
        name="distributional_clones",
        make=make,
        cell={"network": "mlp", "rows": 500, "rows_test": 250},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam", batch=50, sampling="replacement"),
        loss=half_mse,
        times=log_times(5 * RATE, 8000 * RATE, 40),
        measures={
            "accuracy": RealAccuracy(TRAINED_ON),
            "error": RealError(TRAINED_ON),
            "target_accuracy": TargetAccuracy((*EDITS,)),
        },
        dtype="float32",
    ),
    smoke={
        "cell": {"rows": 100, "rows_test": 50, "m": 16},
        "seeds": 2,
        "times": log_times(5 * RATE, 200 * RATE, 8),
    },
    paper={
        "cell": {"source": "cifar10", "rows": 5000, "rows_test": 1000, "m": 512},
        "seeds": 10,
        "flow": Descent(
            rate=0.001, optimiser="adam", batch=128, sampling="replacement"
        ),
        "times": log_times(0.005, 50.0, 60),
    },
)


def peak_time(part: xr.Dataset) -> xr.DataArray:
    """Time at which the accuracy for the target class is largest, after the start."""
    later = part["target_accuracy"].isel(time=slice(1, None))
    is_known = later.notnull().all("time")
    return later.fillna(-1).idxmax("time").where(is_known)


figure = Panels(
    Curves("accuracy", colour="trained_on", title="accuracy on the real law"),
    Curves(
        "target_accuracy",
        colour="edit",
        first_colour=len(TRAINED_ON),
        title="edited rows, for the target",
        laws=(Law(CHANCE, "chance"),),
    ),
    rows="network",
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel="time, steps × rate",
    xscale="log",
    names={"trained_on": {k: f"trained on {k}" for k in TRAINED_ON}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order of the clones and of the edits; of a multilayer network."""
    part = at(ds, "network", "mlp")
    end, out = part["accuracy"].isel(time=-1), order_of_clones(part, "mlp")
    real = end.sel(trained_on="real", drop=True)
    for name in TRAINED_ON[1:]:
        text = f"mlp: accuracy at the end, real − clone of {name}"
        clone = end.sel(trained_on=name, drop=True)
        out.append(difference_of(text, real, clone, (0, 1), REFINETTI))
    return out + _of_edits(part)


def _of_edits(part: xr.Dataset) -> list[Claim]:
    log_peak, seen = xr.ufuncs.log(peak_time(part)), part["target_accuracy"]
    transport = log_peak.sel(edit="transport", drop=True)
    out = []
    for name in FIRST_ORDER:
        text = f"mlp: ln time of the peak of transport − that of {name}"
        first, source = log_peak.sel(edit=name, drop=True), f"{BELROSE}: the order"
        out.append(difference_of(text, transport, first, (0, np.inf), source))
    for name in EDITS:
        one = seen.sel(edit=name, drop=True)
        peak, end = one.max("time", skipna=False), one.isel(time=-1)
        text = f"mlp: accuracy for the target after {name}"
        rise = f"{BELROSE}: above chance; 0.1 ours"
        fall = f"{BELROSE}: falls to chance"
        out.append(mean_of(f"{text}, peak", peak, (CHANCE + 0.1, 1), rise))
        out.append(mean_of(f"{text}, at the end", end, (0, CHANCE), fall))
    return out
