"""A linear network cannot tell a sample from its Gaussian clone: a control.

Under the squared error a linear network sees a sample by Σ xxᵀ and Σ yxᵀ alone.  The
clone with the means and covariances of the classes has both to the last digit, and so
the network moves on it as on the sample, at every step.  The clone of the means and one
variance has not, nor the one of the marginals: there it moves otherwise.

It reads nothing but means: rows that were edited to have the mean of another class stay
there, whatever else they have.

Reference: the clones are those of Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567,
the edits those of Belrose et al. (2024), arXiv:2402.04362; the control is ours.
"""

from typing import ClassVar

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from matplotlib.figure import Figure

from simbias.claims import mean_of, smallest_of
from simbias.core import AbstractMeasure, Claim, Dataset, Experiment
from simbias.experiments._times import log_times
from simbias.experiments.order._clones import (
    EDITS,
    TRAINED_ON,
    Bank,
    RealError,
    TargetAccuracy,
    make,
)
from simbias.figures.band import band
from simbias.figures.curves import curves
from simbias.figures.laws import law_level
from simbias.figures.legends import legend_beside
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.presets import presets

AXES = ()
LONG = 10.0
# Rows of the real law whose outputs are compared.
_SHOWN = 8


class Outputs(AbstractMeasure):
    """What every network of a bank says of a few rows of the real law."""

    dims: ClassVar[tuple[str, ...]] = ("row", "trained_on", "output")

    def coords(self) -> dict[str, np.ndarray]:
        """What the network was trained on."""
        return {"trained_on": np.array(TRAINED_ON)}

    def __call__(self, network: Bank, data: Dataset) -> Float[Array, "row g k"]:
        """The first rows of every class."""
        x = data.others["real"].x
        found = jax.vmap(network)(x[:: max(len(x) // _SHOWN, 1)][:_SHOWN])
        return found.reshape(_SHOWN, network.count, -1)


experiment = presets(
    Experiment(
        name="distributional_linear",
        make=make,
        cell={"network": "linear", "rows": 50, "rows_test": 100, "m": 16},
        seeds=20,
        flow=Descent(rate=0.02),
        loss=half_mse,
        times=log_times(0.02, 20.0, 30),
        measures={
            "outputs": Outputs(),
            "error": RealError(),
            "target_accuracy": TargetAccuracy(),
        },
    ),
    smoke={"seeds": 2, "times": log_times(0.02, 2.0, 6)},
    paper={"cell": {"source": "digits", "rows": 100, "rows_test": 50}},
)


def differences(ds: xr.Dataset) -> xr.DataArray:
    """Largest |output, clone − real|, by clone and time."""
    outputs = ds["outputs"]
    gap = abs(outputs - outputs.sel(trained_on="real", drop=True))
    return gap.max(("row", "output"), skipna=False).sel(trained_on=list(TRAINED_ON[1:]))


def figure(ds: xr.Dataset) -> Figure:
    """How far the networks of the clones are from that of the sample, and the edits."""
    with style():
        whole = blank(9.6, 3.4)
        left, right = whole.subplots(1, 2)
        later = ds.isel(time=slice(1, None))
        gap = differences(later)
        for name, colour in zip(gap["trained_on"].values, COLOURS[1:], strict=False):
            one = gap.sel(trained_on=name)
            curves(left, one.clip(min=1e-17), colour=colour, label=str(name))
        left.set(xlabel="time", title="|output, clone − real|, largest")
        law_level(left, 1e-10)
        legend_beside(left, title="trained on")
        for name, colour in zip(EDITS, COLOURS, strict=False):
            one = later["target_accuracy"].sel(edit=name).transpose("time", "seed")
            band(right, one["time"], one, colour=colour, label=name)
        right.set(xscale="log", xlabel="time", title="edited rows, for the target")
        law_level(right, 0.25)
        legend_beside(right, title="edit")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Another path on clones with other moments; and nothing but means is read."""
    gap = differences(ds)
    is_long = float(ds["time"][-1]) >= LONG
    needs = f"a time of {LONG:g}"
    out = []
    for name in ("mean", "marginals"):
        text = f"|output, clone of {name} − real| at the end, smallest"
        other = gap.sel(trained_on=name).isel(time=-1)
        claim = smallest_of(text, other, (1e-3, np.inf), "other moments; 0.001 ours")
        out.append(claim.given(is_long, needs))
    for name in EDITS:
        one = ds["target_accuracy"].sel(edit=name)
        fall = one.max("time", skipna=False) - one.isel(time=-1)
        text = f"fall of the accuracy for the target after {name}"
        source = "only means are known; 0.05 ours"
        out.append(mean_of(text, fall, (0, 0.05), source).given(is_long, needs))
    return out
