"""Control: under the squared loss the ranks of the initialisation stay.

Samples, networks and initialisations are those of `low_rank_linear` (separable), under
the squared loss.  This loss has a minimum, at which the flow stops.  From an
initialisation of scale 1 the matrices keep most of their rank.  From a small scale they
end with a low rank, which is not 1.

Reference: Le & Jegelka (2022), arXiv:2201.11968, and Ji & Telgarsky (2019),
arXiv:1810.02032, of the logistic loss; the control is ours.
"""

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.rank import low_rank_linear
from simbias.figures import Curves, Law, Panels
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import half_mse
from simbias.measures import LayerAlignment, StableRanks, TrainLoss

AXES = ("scale",)
LEAST_TIME = 1000.0


def make(
    key: PRNGKeyArray,
    *,
    scale: Real = 1.0,
    depth: int = 5,
    m: int = 16,
    n: int = 40,
    d: int = 5,
) -> tuple[Dataset, AbstractNetwork]:
    """A separable sample and a deep linear network, see `low_rank_linear`."""
    return low_rank_linear.make(key, scale=scale, depth=depth, m=m, n=n, d=d)


TIMES = log_times(0.1, 1000.0, 40, digits=3)

experiment = presets(
    Experiment(
        name="low_rank_squared",
        make=make,
        cell={"scale": (0.2, 1.0)},
        seeds=20,
        flow=GradientFlow(PRECISE, rtol=1e-8, rest=1e-7),
        loss=half_mse,
        times=TIMES,
        measures={
            "stable_rank": StableRanks(),
            "alignment": LayerAlignment(),
            "train_loss": TrainLoss(),
        },
    ),
    smoke={"seeds": 2, "times": TIMES[::3]},
    paper={"cell": {"scale": (0.1, 0.2, 0.5, 1.0), "m": 64}, "seeds": 50},
)


figure = Panels(
    Curves(
        lambda part: part["stable_rank"].max("layer"),
        colour="scale",
        title="squared loss: ‖W‖²_F/‖W‖²_op, largest of the layers",
        laws=(Law(1),),
    ),
    Curves("train_loss", colour="scale", title="½ mean squared error", yscale="log"),
    of=lambda ds: ds.isel(time=slice(1, None)),
    xscale="log",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """No rank one from an initialisation of order one."""
    out = []
    for scale in ds["scale"].values:
        rank = ds["stable_rank"].sel(scale=scale).isel(time=-1, layer=slice(0, -1))
        text = f"squared loss, start of scale {scale:g}"
        if scale >= 0.5:
            text = f"{text} (control): stable rank of hidden layers, smallest"
            claim = smallest_of(text, rank, (1.5, np.inf), "ours")
        else:
            text = f"{text}: stable rank of hidden layers, smallest of largest"
            most = rank.max("layer", skipna=False)
            claim = smallest_of(text, most, (1.01, np.inf), "ours: above the log loss")
        out.append(claim)
    return out
