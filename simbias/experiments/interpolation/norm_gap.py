"""How far interpolating networks are from the interpolator of least norm.

The gradient flow without weight decay is followed until the loss is 0 (CONVERGED).  The
norm N = ½‖θ‖² of the limit is compared with the least N of all interpolating networks
of any width, which a convex program bounds from below (`theory.least_norm_network`).
It is the limit μ → 0 of the bound in `global_gap`.

Predictions, before any run (N over the least, networks that interpolate):
    λ ≤ 1e-3     near: the median is below 1.2
                 not equal: more than half of the networks are above 1.001, because
                 neurons align before they fit, and align with extremal vectors
    λ → 0        no nearer: the mean of ln N is the same from 1e-6 and 1e-3 within 0.05
    λ = 10       control: the median is above 10.  The weights hardly move, so that N
                 stays what it is at the start: λ²d within 20 %

Reference: Pilanci & Ergen (2020), arXiv:2002.10553, the convex program.  That a small
start ends at the least norm is a theorem for orthogonal inputs: Boursier,
Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939.  Bands are ours.
"""

import numpy as np
import xarray as xr

from simbias.analysis.at import at
from simbias.analysis.estimates import estimates
from simbias.analysis.wilson import share_interval
from simbias.claims import Claims, difference_of, median_of, share_of
from simbias.core import Claim, Experiment, Status
from simbias.experiment_presets import presets
from simbias.experiments._draws import once_a_sample, samples
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.figures import Curves, Estimates, Law, Panels, ends
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import ParameterNorm, TrainLoss
from simbias.stops import Stationary
from simbias.theory.least_norm_network import least_norm_network

AXES = ("n", "scale")
OURS = "ours, written before the run"
# λ up to which a start is small, and from which on it is large.
SMALL, LARGE = 1e-3, 10.0

experiment = presets(
    Experiment(
        name="norm_gap",
        make=noisy_teacher,
        cell={
            "n": (4, 6),
            "scale": (1e-6, SMALL, 1.0, LARGE),
            "d": 2,
            "m": 48,
            "sigma": 0.5,
            "n_test": 1,
        },
        seeds=16,
        shared=SHARED,
        root=4900,
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=log_times(10.0, 1e4, 24),
        measures={"train_loss": TrainLoss(), "norm": ParameterNorm()},
        stop=Stationary(),
    ),
    smoke={
        "cell": {"n": 3, "m": 8, "scale": (SMALL, LARGE)},
        "seeds": 4,
        "times": log_times(10.0, 1e3, 8),
    },
    paper={"cell": {"n": (4, 6, 8), "m": 500}, "seeds": 100},
)


def ratios(ds: xr.Dataset) -> xr.Dataset:
    """N over the least, λ²d over N, and `fits`: whether the loss is 0 in the limit."""
    is_zero = ds["status"] == int(Status.CONVERGED)
    least = xr.full_like(ds["status"], np.nan, float)
    bound = once_a_sample(lambda data: least_norm_network(data).bound)
    for place, _, data in samples(ds, experiment(), is_zero):
        least[place] = bound(data)
    norm = ds["norm"].isel(time=-1)
    known = ds["status"] != int(Status.RUNNING)
    return xr.Dataset(
        {
            "ratio": norm / least,
            "moved": (norm / (ds["scale"] ** 2 * ds["d"])).where(is_zero),
            "fits": is_zero.astype(float).where(known),
        }
    )


figure = Panels(
    Curves(
        "ratio",
        colour="n",
        mark="o",
        yscale="log",
        ylabel="½‖θ‖² over the least",
        laws=(Law(1, "least norm, any width"),),
    ),
    Estimates(
        lambda found: ends(estimates(share_interval, found["fits"], over=("seed",))),
        colour="n",
        beside=0.02,
        is_joined=True,
        ylim=(-0.05, 1.05),
        ylabel="networks that interpolate, share",
    ),
    of=ratios,
    x="scale",
    xlabel="initial scale λ",
    xscale="log",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Small starts are near but not equal, and a large one keeps its norm."""
    found, rows = ratios(ds), []
    for n in np.atleast_1d(ds["n"].values).tolist():
        part = at(found, "n", n)
        ratio = {v: at(part["ratio"], "scale", v) for v in (1e-6, SMALL, LARGE)}
        small, text = ratio[SMALL], "½‖θ‖² over the least"
        is_more = (small > 1.001).astype(float).where(small.notnull())
        both = np.log(ratio[1e-6]), np.log(small)
        rows += Claims(where=f"n = {n}").rows(
            median_of(f"λ = 0.001: {text}", small, (1, 1.2), OURS),
            share_of(
                f"λ = 0.001: {text} is above 1.001, share", is_more, (0.5, 1), OURS
            ),
            difference_of(
                f"ln of {text}, λ = 1e-6 less 1e-3", *both, (-0.05, 0.05), OURS
            ),
            median_of(f"control, λ = 10: {text}", ratio[LARGE], (10, np.inf), OURS),
            median_of(
                "control, λ = 10: ½‖θ‖² over λ²d",
                *(at(part["moved"], "scale", LARGE), (0.8, 1.2), OURS),
            ),
        )
    return rows
