"""Control: linear networks do not tell a sample from its Gaussian clone.

Under the squared loss a linear network depends on its training samples only through Σ
xxᵀ and Σ yxᵀ. The clone with the means and covariances of the classes has the same sums
up to rounding.  So at every step the network trained on it equals the network on the
real samples.  The clone of means with one variance and the clone of marginals have
other sums, and there the networks differ.

The network uses only means.  A sample that was edited to have the mean of another class
stays in that class, for any other property of the sample.

Reference: the clones are those of Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567,
the edits those of Belrose et al. (2024), arXiv:2402.04362; the control is ours.
"""

import numpy as np
import xarray as xr

from simbias.claims import Claims, mean_of, smallest_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.order._clones import EDITS, TRAINED_ON, make
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import RealError, RealOutputs, TargetAccuracy

AXES = ()
LONG = 10.0


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
            "outputs": RealOutputs(TRAINED_ON),
            "error": RealError(TRAINED_ON),
            "target_accuracy": TargetAccuracy((*EDITS,)),
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


figure = Panels(
    Curves(
        lambda part: differences(part).clip(min=1e-17),
        colour="trained_on",
        first_colour=1,
        spread="each",
        yscale="log",
        title="|output, clone − real|, largest",
        laws=(Law(1e-10),),
    ),
    Curves(
        "target_accuracy",
        colour="edit",
        first_colour=len(TRAINED_ON),
        title="edited rows, for the target",
        laws=(Law(0.25, "chance"),),
    ),
    of=lambda ds: ds.isel(time=slice(1, None)),
    xscale="log",
    names={"trained_on": {k: f"trained on {k}" for k in TRAINED_ON}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Clones with other moments give other networks; and only means are used."""
    gap, out = differences(ds), []
    for name in ("mean", "marginals"):
        text = f"|output, clone of {name} − real| at the end, smallest"
        other = gap.sel(trained_on=name).isel(time=-1)
        out.append(
            smallest_of(text, other, (1e-3, np.inf), "other moments; 0.001 ours")
        )
    for name in EDITS:
        one = ds["target_accuracy"].sel(edit=name)
        fall = one.max("time", skipna=False) - one.isel(time=-1)
        text = f"fall of the accuracy for the target after {name}"
        out.append(mean_of(text, fall, (0, 0.05), "only means are known; 0.05 ours"))
    is_long = float(ds["time"][-1]) >= LONG
    return Claims(needs={f"a time of {LONG:g}": is_long}).rows(*out)
