"""Of images too a network knows means first, covariances next, and then the rest.

As `distributional_clones`, of images and their classes: networks of one start see the
same rows of the same batches, one of the sample and one of each of its clones, which
share the means of the classes, their covariances as well, or the laws of single pixels.
All are tested on the real images; a clone is left in the order of what it shares.

By default no files are needed: scikit-learn's 8 × 8 digits.  `--cell.source cifar10
--cell.data-dir FOLDER`, or "mnist", reads the published ones.

Reference: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567, section 2, of CIFAR-10;
digits, sizes and levels are ours.
"""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.claims import difference_of
from simbias.core import Claim, Experiment
from simbias.experiments._times import log_times
from simbias.experiments.order._clones import TRAINED_ON, RealAccuracy, make
from simbias.experiments.order.distributional_clones import (
    CLONES,
    LEFT,
    RATE,
    left_or_end,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.legends import legend_beside
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.presets import presets

AXES = ("source",)
STEPS = 2000

experiment = presets(
    Experiment(
        name="distributional_images",
        make=make,
        cell={"source": "digits", "rows": 100, "rows_test": 50},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam", batch=50, sampling="replacement"),
        loss=half_mse,
        times=log_times(5 * RATE, STEPS * RATE, 30),
        measures={"accuracy": RealAccuracy()},
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


def figure(ds: xr.Dataset) -> Figure:
    """Accuracy on the real images, and by how much that of the sample is ahead."""
    ds = with_axes(ds, AXES)
    sources = ds["source"].values
    with style():
        whole = blank(9.6, 3.2 * len(sources))
        panels = whole.subplots(len(sources), 2, squeeze=False, sharex=True)
        for (left, right), source in zip(panels, sources, strict=True):
            part = ds.sel(source=source).isel(time=slice(1, None))
            seen = part["accuracy"]
            gap = seen.sel(trained_on="real", drop=True) - seen
            for name, colour in zip(TRAINED_ON, COLOURS, strict=False):
                for axes, values in ((left, seen), (right, gap)):
                    one = values.sel(trained_on=name).transpose("time", "seed")
                    band(axes, part["time"], one, colour=colour, label=name)
            law_level(right, LEFT)
            legend_beside(right, title="trained on")
            left.set_title(f"{source}: accuracy on the real images")
            right.set_title(f"{source}: real less clone")
            for axes in (left, right):
                axes.set(xscale="log", xlabel="time, steps × rate")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order in which clones are left, and what they lack at the end."""
    ds, out = with_axes(ds, AXES), []
    for source in ds["source"].values:
        out += _of_source(ds.sel(source=source), str(source))
    is_long = float(ds["time"][-1]) >= STEPS * RATE
    return [c.given(is_long, f"a time of {STEPS * RATE:g}") for c in out]


def _of_source(part: xr.Dataset, name: str) -> list[Claim]:
    log_left, out = xr.ufuncs.log(left_or_end(part)), []
    end = part["accuracy"].isel(time=-1)
    at = lambda values, kind: values.sel(trained_on=kind, drop=True)
    for kind, source in (("covariance", CLONES), ("marginals", "ours")):
        text = f"{name}: ln time at which the clone of {kind} is left − that of mean"
        pair = at(log_left, kind), at(log_left, "mean")
        out.append(difference_of(text, *pair, (0, np.inf), source))
    rows = [("real", kind) for kind in TRAINED_ON[1:]] + [("covariance", "mean")]
    for more, less in rows:
        text = f"{name}: accuracy at the end, {more} − {less}"
        pair = at(end, more), at(end, less)
        out.append(difference_of(text, *pair, (0, 1), "arXiv:2211.11567"))
    return out
