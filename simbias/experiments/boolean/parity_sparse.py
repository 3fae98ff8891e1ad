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
from jaxtyping import Float, PRNGKeyArray
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from simbias.claims import difference_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.datasets import parity
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.boolean._learning_times import (
    LEARNED,
    learning_times,
    slopes_of_seeds,
)
from simbias.figures.band import band
from simbias.figures.logarithmic import logarithmic
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.losses import hinge
from simbias.measures import TrainSignAccuracy
from simbias.networks import mlp
from simbias.stops import TrainAccuracyAbove

PAPER = "Barak et al. (2022), arXiv:2207.08799"
RATE = 0.1
# The claims are about 30,000 steps, more than any network of `quick` needs.
LEAST_TIME = 3000.0
# What the figure and the claims read.
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


def exponents(ds: xr.Dataset) -> dict[int, Float[np.ndarray, " seed"]]:
    """Slope of ln time in ln d for every seed, by k; empty for fewer than two d."""
    if ds.sizes["d"] < 2:
        return {}
    times, x = learning_times(ds, RATE), np.log(ds["d"].values)
    return {int(k): slopes_of_seeds(x, times.sel(k=k), "d") for k in ds["k"].values}


def figure(ds: xr.Dataset) -> Figure:
    """Accuracy over time for the largest d, and the time to 0.9 against d, by k."""
    found, times, d = exponents(ds), learning_times(ds, RATE), ds["d"].values
    with style():
        whole = blank(9.6, 3.8)
        left, right = whole.subplots(1, 2)
        for i, k in enumerate(ds["k"].values):
            colour = COLOURS[i % len(COLOURS)]
            of = ds["accuracy"].sel(k=k).isel(d=-1)
            time = np.maximum(ds["time"], float(ds["time"][1]))
            band(left, time, of, colour=colour, label=f"k = {k}")
            label = f"k = {k}"
            if int(k) in found:
                label += f": exponent {np.nanmean(found[int(k)]):.2f}"
            band(right, d, times.sel(k=k), "-o", colour=colour, label=label, ms=4)
        left.set_xscale("log")
        left.set_ylim(0.35, 1.03)
        left.set_xlabel("time, steps × rate")
        left.set_title(f"accuracy, d = {d[-1]}")
        left.legend(loc="lower center", ncols=4)
        logarithmic(right)
        right.set_xticks(d, [str(v) for v in d])
        right.xaxis.set_minor_locator(NullLocator())
        right.set_xlabel("bits, d")
        right.set_title(f"time to an accuracy of {LEARNED}")
        right.legend(loc="upper left")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """All parities are learned, and the exponent increases with k."""
    found = exponents(ds)
    end = ds["accuracy"].isel(time=-1)
    out = [smallest_of("accuracy at the end, smallest", end, (LEARNED, 1), "ours")]
    for k in (2, 3, 4):
        text = f"k = {k}: exponent of the time to {LEARNED} in d"
        seen = found.get(k, np.empty(0))
        claim = mean_of(text, seen, (0, k), f"{PAPER}: d^O(k); k itself ours")
        out.append(claim.given(k in found, f"two sizes d and k = {k}"))
    for low, high in ((2, 3), (3, 4)):
        text = f"exponent of k = {high} less that of k = {low}"
        seen = [found.get(k, np.empty(0)) for k in (high, low)]
        has = low in found and high in found
        claim = difference_of(text, *(seen if has else ([], [])), (0, np.inf), PAPER)
        out.append(claim.given(has, f"two sizes d, k = {low} and {high}"))
    text = "control, k = 1: exponent"
    alone = mean_of(text, found.get(1, np.empty(0)), (-0.5, 0.5), "ours")
    out.append(alone.given(1 in found, "two sizes d and k = 1"))
    return out
