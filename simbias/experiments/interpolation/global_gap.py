"""How far from the best network of any width weight decay ends.

The flow of L + (μ/2)‖θ‖² is followed until its limit is proven (`Stationary`).  A
convex program gives a bound of the objective that no network of any width can pass
(`theory.best_network`).  A limit whose objective is more than 1e-4 above this bound is
*spurious*: no word about what was found, but proven.

Predictions, before any run:
    few neurons           m = 2: more than half of the limits are spurious
    many neurons, λ = 1   control, m = 48: at most a fifth
    many neurons, λ = 1e-3 still spurious, at least a third: a small start aligns first,
                          and its neurons leave the directions that the best one needs
    width                 the share falls from m = 2 to m = 48 for λ = 1

Reference: Pilanci & Ergen (2020), arXiv:2002.10553, the convex program, and Boursier,
Bowditch, Englert & Lazić (2025), arXiv:2505.22578, abstract: large width and a large
start are both needed.  Data and bands are ours.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, median_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._best import (
    DECAY,
    first_neurons,
    gaps,
    spurious_shares,
)
from simbias.figures import Curves, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import ParameterNorm, TrainLoss
from simbias.stops import Stationary

AXES = ("m", "scale", DECAY)
PAPER = "Boursier et al. (2025), arXiv:2505.22578, abstract; band ours"
OURS = "ours, written before the run"
SMALL, LARGE = 1e-3, 1.0


def make(
    key: PRNGKeyArray,
    *,
    m: Index = 8,
    scale: Real = LARGE,
    n: int = 6,
    d: int = 2,
    sigma: Real = 0.5,
    width: int = 48,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and a balanced two-layer ReLU network.

    Args:
        key: random key.
        m: neurons.
        scale: factor λ of the initial weights.
        n: samples.
        d: entries of an input.
        sigma: standard deviation of the noise of the targets.
        width: most neurons there is room for.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    network = first_neurons(key_network, m=m, width=width, d=d, scale=scale)
    return data, network


experiment = presets(
    Experiment(
        name="global_gap",
        make=make,
        cell={"m": (2, 8, 48), "scale": (SMALL, LARGE), DECAY: (0.03, 0.1)},
        seeds=20,
        shared=("m", "scale"),
        flow=ReluFlow(rtol=1e-5, weight_decay=0.1),
        loss=half_mse,
        times=log_times(10.0, 3000.0, 50),
        measures={"train_loss": TrainLoss(), "norm": ParameterNorm()},
        stop=Stationary(),
    ),
    smoke={
        "cell": {"m": (2, 8), "n": 4, "width": 8, DECAY: 0.1},
        "seeds": 4,
        "times": log_times(10.0, 1000.0, 20),
    },
    paper={"cell": {"m": (2, 8, 32, 128, 512), "width": 512}, "seeds": 100},
)


def seen(ds: xr.Dataset) -> xr.Dataset:
    """Gaps of the limits that are proven."""
    return gaps(ds, experiment(), ())


figure = Panels(
    *(
        spurious_shares(scale, x="m", colour=DECAY, is_joined=True, xlabel="neurons m")
        for scale in (SMALL, LARGE)
    ),
    Curves(
        lambda ds: at(ds["gap"], "scale", SMALL).clip(1e-12),
        x="m",
        colour=DECAY,
        xscale={"value": "log", "base": 2},
        yscale="log",
        xlabel="neurons m",
        ylabel="relative gap",
        title=f"λ = {SMALL:g}",
    ),
    of=seen,
    names={DECAY: {v: f"μ = {v:g}" for v in (0.03, 0.1)}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Few neurons, many from a large and from a small start, for every decay."""
    found, rows = seen(ds), []
    for mu in np.atleast_1d(ds[DECAY].values):
        part = at(found, DECAY, mu)
        share = lambda m, scale, part=part: at(
            at(part["spurious"], "m", m), "scale", scale
        )
        small, text = share(48, SMALL), "share of spurious limits"
        gap = at(at(part["gap"], "m", 48), "scale", SMALL)
        rows += Claims(where=f"μ = {mu:g}").rows(
            share_of(f"m = 2, λ = 1: {text}", share(2, LARGE), (0.5, 1), PAPER),
            share_of(
                f"control, m = 48, λ = 1: {text}", share(48, LARGE), (0, 0.2), PAPER
            ),
            share_of(f"m = 48, λ = 0.001: {text}", small, (0.33, 1), PAPER),
            difference_of(
                f"m = 2 less m = 48, λ = 1: {text}",
                share(2, LARGE),
                share(48, LARGE),
                (0.3, 1),
                OURS,
            ),
            median_of("m = 48, λ = 0.001: relative gap", gap, (1e-4, 1), OURS),
            share_of(
                "limits that are proven",
                *(part["known"], (0.8, 1), OURS),
                pooled=("m", "scale"),
            ),
        )
    return rows
