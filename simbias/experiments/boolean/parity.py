"""Parity: a few ReLUs express it, and SGD does not find it; five, ten and thirty bits.

The label y is the product of half of d uniform signs, a random set I.  A network of
|I| + 1 ReLUs is right everywhere, and linear algebra finds the set I from 2d samples.
SGD on fresh samples learns the parity for d = 5 and 10, and its accuracy stays at ½
for d = 30: the gradient depends on I only to the order 2^{−d/2} (`parity_gradient`).
From 5 to 10 bits the time to learn rises with d.  In the published code each bit
belongs to I with probability ½, so that some sets are nearly empty: `random`.  The
control has one relevant bit: the same network learns it for thirty bits too.

As published: 10d ReLUs with biases, hinge loss, learning rate 0.01, 128 fresh samples
in each step, 50,000 steps.  The accuracy is measured on 4000 samples that are never
used for training.

Reference: Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950, section 2, and
parity.py of its repository.
"""

from typing import Literal, get_args

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_along
from simbias.claims import Claims, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets import parity
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.boolean._learning_times import LEARNED, learning_times
from simbias.experiments.boolean._published_start import published_start
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import Descent
from simbias.losses import hinge
from simbias.measures import TrainSignAccuracy
from simbias.stops import TrainAccuracyAbove
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

PAPER = "Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950"
LEARNS = f"{PAPER}: learned; 0.9 ours"
FAILS = f"{PAPER}: stays at ½; ± 0.02 ours"
RATE = 0.01
# What the claims are about: 50,000 steps.
LEAST_TIME = 500.0
# Bits up to which a parity is learned in this time.
MOST = 10
AXES = ("relevant", "d")
Relevant = Literal["half", "random", "one"]


def make(
    key: PRNGKeyArray, *, relevant: Relevant = "half", d: int = 10, n: int = 4000
) -> tuple[Dataset, AbstractNetwork]:
    """Samples for the accuracy, the law of fresh samples, and a network of 10d ReLUs.

    Args:
        key: random key.
        relevant: whether the parity is of ⌊d/2⌋ bits, of each bit with probability ½,
            or of one bit.
        d: number of bits.
        n: samples on which the accuracy is measured.
    """
    key_data, key_network = jax.random.split(key)
    one_of("relevant", relevant, get_args(Relevant))
    positive_integer("d", d)
    k = {"half": d // 2, "random": None, "one": 1}[relevant]
    network = published_start(key_network, (d, 10 * d, 1))
    return parity(key_data, n=n, d=d, k=k), network


experiment = presets(
    Experiment(
        name="parity",
        make=make,
        cell={"relevant": get_args(Relevant), "d": (5, 6, 8, 10, 30)},
        seeds=20,
        flow=Descent(rate=RATE, batch=128, sampling="fresh"),
        loss=hinge,
        times=log_times(0.2, LEAST_TIME, 40),
        measures={"accuracy": TrainSignAccuracy()},
        stop=TrainAccuracyAbove(1.0),
        dtype="float32",
    ),
    smoke={
        "cell": {"relevant": "half", "d": 5, "n": 500},
        "seeds": 6,
        "times": (0.0, 10.0, 100.0),
    },
    paper={"cell": {"d": (5, 6, 8, 10, 12, 14, 30, 100)}},
)


def times(part: xr.Dataset) -> xr.DataArray:
    """Time to 0.9 of every seed; NaN for a seed that does not reach it."""
    return learning_times(part, RATE)


def unlearned(part: xr.Dataset) -> xr.DataArray:
    """The end of the run, for seeds that have not learned."""
    return part["time"][-1].where(times(part).isnull().any("seed"))


def exponential(part: xr.Dataset) -> xr.DataArray:
    """exp(p d) through the times for half of the bits, p as claimed; up to all d."""
    late = _times_of_few(at(part, "relevant", "half"))
    slope = _slopes(late).mean(skipna=False)
    middle = float(np.log(late).mean())
    return xr.ufuncs.exp(middle + slope * (part["d"] - late["d"].mean()))


def _slopes(times: xr.DataArray) -> xr.DataArray:
    return slope_along(xr.ufuncs.log(times), times["d"], "d", skipna=False)


def _times_of_few(part: xr.Dataset) -> xr.DataArray:
    """Times for up to `MOST` bits.

    A network that has not learned counts with the final time, so the slope is a lower
    bound.
    """
    few = part.sel(d=part["d"] <= MOST)
    return times(few).fillna(float(few["time"][-1]))


def curves(part: xr.Dataset) -> xr.DataArray:
    """Accuracy for half of the bits, and for one."""
    shown = part["relevant"].isin(["half", "one"])
    return part["accuracy"].isel(relevant=shown.values)


figure = Panels(
    Curves(
        curves,
        colour="d",
        is_graded=True,
        line="relevant",
        title="accuracy; dashed: one relevant bit",
        x=lambda part: part["time"].clip(min=0.1),
        xlabel="time, steps × rate",
        xscale="log",
        ylim=(0.25, 1.03),
    ),
    Points(
        times,
        colour="relevant",
        # Other colours than those of d.
        first_colour=3,
        has_median=False,
        title=f"time to an accuracy of {LEARNED}, every seed",
        x="d",
        xlabel="bits, d",
        yscale="log",
        ticks=True,
        laws=(
            Law(unlearned, "some never by the end", "^", "black"),
            Law(exponential, f"exponential, fitted to d ≤ {MOST}"),
        ),
    ),
    names={
        "d": "d",
        "relevant": {
            "half": "half of the bits",
            "random": "each with odds ½",
            "one": "one bit",
        },
    },
    size=(4.8, 3.4),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Few bits are learned, thirty are not."""
    control = "control, one bit of 30: accuracy at the end, smallest"
    return [
        *_of_many(at(ds, "relevant", "half"), "half of"),
        *_of_many(at(ds, "relevant", "random"), "odds ½ for each of"),
        smallest_of(control, _end(at(ds, "relevant", "one"), 30), (0.98, 1.0), "ours"),
    ]


def _of_many(part: xr.Dataset, whose: str) -> list[Claim]:
    """Parities of many bits: accuracies at the end, and the rise of the times."""
    late = _times_of_few(part)
    has_three = late.sizes["d"] > 2
    slopes = _slopes(late) if has_three else []
    text = f"{whose} {{}} bits: accuracy at the end, {{}}"
    rise = f"{whose} d ≤ 10 bits: slope of ln time to {LEARNED} in d"
    return [
        *(
            smallest_of(text.format(d, "smallest"), _end(part, d), (0.9, 1.0), LEARNS)
            for d in (5, 10)
        ),
        mean_of(text.format(30, "mean"), _end(part, 30), (0.48, 0.52), FAILS),
        *Claims({"three sizes up to 10": has_three}).rows(
            mean_of(rise, slopes, (0, np.inf), "ours")
        ),
    ]


def _end(part: xr.Dataset, d: int) -> xr.DataArray:
    return at(part["accuracy"].isel(time=-1), "d", d)
