"""Sparse parity: steps to learn two, three or four bits among d, a power of d.

A network of fixed width is trained on fresh samples in every step, until it is right on
97 % of 1000 other samples.  Its time to the accuracy 0.9 grows like a power of d.  The
exponent increases with the number k of relevant bits, from two to four.  The published
law is d^{O(k)}, close to the limit for statistical queries; the exponents here are far
below k.  For the control, one bit, we expected no growth with d.  Its times are short,
a few steps for eight bits and more for 64, but its exponent is no smaller than that of
two bits.

Hinge loss, batch size 32 and learning rate 0.1 are those of published runs (as others
quote them; the paper itself could not be read).  The 128 ReLUs with biases and torch's
default initialisation are our choices.

Reference: Barak, Edelman, Goel, Kakade, Malach & Zhang (2022), arXiv:2207.08799.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.datasets import parity
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.boolean._learning_times import (
    LEARNED,
    learning_times,
    slopes_of_seeds,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import hinge
from simbias.measures import TrainSignAccuracy
from simbias.networks import mlp
from simbias.stops import TrainAccuracyAbove

PAPER = "Barak et al. (2022), arXiv:2207.08799"
RATE = 0.1
# The claims are about 30,000 steps, more than any network of `quick` needs.
LEAST_TIME = 3000.0
AXES = ("k", "d")


def make(
    key: PRNGKeyArray, *, k: Index = 3, d: int = 16, n: int = 1000, m: int = 128
) -> tuple[Dataset, AbstractNetwork]:
    """Samples for the accuracy, the law of fresh samples, and a network of m ReLUs."""
    key_data, key_network = jax.random.split(key)
    return parity(key_data, n=n, d=d, k=k), mlp(key_network, (d, m, 1), law="torch")


experiment = presets(
    Experiment(
        name="parity_sparse",
        make=make,
        cell={"k": (1, 2, 3, 4), "d": (8, 16, 32, 64)},
        seeds=20,
        flow=Descent(rate=RATE, batch=32, sampling="fresh"),
        loss=hinge,
        times=log_times(0.1, LEAST_TIME, 80),
        measures={"accuracy": TrainSignAccuracy()},
        stop=TrainAccuracyAbove(0.97),
        dtype="float32",
    ),
    smoke={
        "cell": {"k": (2, 3), "d": 8, "n": 500},
        "seeds": 6,
        "times": log_times(0.1, LEAST_TIME, 40),
    },
    paper={"cell": {"d": (8, 16, 32, 64, 128)}, "times": log_times(0.1, 1e5, 110)},
)


def exponents(ds: xr.Dataset) -> xr.DataArray:
    """Slope of ln time against ln d of every seed, by k; NaN for fewer than two d."""
    times, x = learning_times(ds, RATE), np.log(ds["d"].values)
    rows = [
        slopes_of_seeds(x, times.sel(k=k), "d") if x.size > 1 else np.nan * ds["seed"]
        for k in ds["k"].values
    ]
    return xr.DataArray(rows, {"k": ds["k"], "seed": ds["seed"]}, ("k", "seed"))


figure = Panels(
    Curves(
        lambda ds: ds["accuracy"].isel(d=-1),
        colour="k",
        title="accuracy, the largest d",
        x=lambda ds: ds["time"].clip(min=float(ds["time"][1])),
        xlabel="time, steps × rate",
        ylim=(0.35, 1.03),
    ),
    Curves(
        lambda ds: learning_times(ds, RATE),
        colour="k",
        mark="o",
        title=f"time to an accuracy of {LEARNED}",
        x="d",
        xlabel="bits, d",
        yscale="log",
        ticks=True,
        has_exponent=True,
    ),
    xscale="log",
    size=(4.8, 3.6),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """All are learned, and the exponent rises with k."""
    of, end = exponents(ds), ds["accuracy"].isel(time=-1)
    slopes, source = [], f"{PAPER}: d^O(k); k itself ours"
    for k in (2, 3, 4):
        text = f"k = {k}: exponent of the time to {LEARNED} in d"
        slopes.append(mean_of(text, at(of, "k", k), (0, k), source))
    for low, high in ((2, 3), (3, 4)):
        text = f"exponent of k = {high} less that of k = {low}"
        both = at(of, "k", high), at(of, "k", low)
        slopes.append(difference_of(text, *both, (0, np.inf), PAPER))
    alone = mean_of("control, k = 1: exponent", at(of, "k", 1), (-0.5, 0.5), "ours")
    return [
        smallest_of("accuracy at the end, smallest", end, (LEARNED, 1), "ours"),
        *Claims({"two sizes d": ds.sizes["d"] > 1}).rows(*slopes, alone),
    ]
