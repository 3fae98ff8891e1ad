"""Distributional simplicity bias on images: means, covariances, then the rest.

This is `distributional_clones` for classes of images.  One network is trained on the
real images and one on each clone, with the same initialisation and batches.  The clones
share the means of the classes, or also their covariances, or the marginals of single
pixels.  All networks are tested on real images.

By default the images are scikit-learn's 8 × 8 digits, so no files are needed.
`--cell.source cifar10 --cell.data-dir FOLDER`, or "mnist", reads the published files.

Reference: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567, section 2, of CIFAR-10;
digits, sizes and levels are ours.
"""

import xarray as xr

from simbias.claims import Claims, difference_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.order._clones import TRAINED_ON, make
from simbias.experiments.order._departure import LEFT, REFINETTI, lead, order_of_clones
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import RealAccuracy

AXES = ("source",)
RATE, STEPS = 0.005, 2000

experiment = presets(
    Experiment(
        name="distributional_images",
        make=make,
        cell={"source": "digits", "rows": 100, "rows_test": 50},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam", batch=50, sampling="replacement"),
        loss=half_mse,
        times=log_times(5 * RATE, STEPS * RATE, 30),
        measures={"accuracy": RealAccuracy(TRAINED_ON)},
        dtype="float32",
    ),
    smoke={
        "cell": {"rows": 70, "rows_test": 10, "m": 8},
        "seeds": 2,
        "times": log_times(5 * RATE, 20 * RATE, 3),
    },
    paper={
        "cell": {"source": "cifar10", "rows": 5000, "rows_test": 1000, "m": 512},
        "times": log_times(5 * RATE, 10_000 * RATE, 60),
    },
)


figure = Panels(
    Curves("accuracy", colour="trained_on", title="accuracy on the real images"),
    Curves(
        lead,
        colour="trained_on",
        title="real less clone",
        laws=(Law(LEFT, "a clone is left"),),
    ),
    rows="source",
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel="time, steps × rate",
    xscale="log",
    names={"trained_on": {k: f"trained on {k}" for k in TRAINED_ON}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order of departures from the clones, and the accuracies at the end."""
    out: list[Claim] = []
    pairs = [("real", kind) for kind in TRAINED_ON[1:]] + [("covariance", "mean")]
    for name in ds["source"].values:
        part = ds.sel(source=name)
        out += order_of_clones(part, name)
        end = part["accuracy"].isel(time=-1)
        for pair in pairs:
            more, less = (end.sel(trained_on=kind, drop=True) for kind in pair)
            text = f"{name}: accuracy at the end, {pair[0]} − {pair[1]}"
            out.append(difference_of(text, more, less, (0, 1), REFINETTI))
    is_long = float(ds["time"][-1]) >= STEPS * RATE
    return Claims(needs={f"a time of {STEPS * RATE:g}": is_long}).rows(*out)
