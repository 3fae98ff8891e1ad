"""Parity: a few ReLUs express it, and SGD does not find it; five, ten and thirty bits.

The label y is the product of a random half of d uniform signs.  A network of |I| + 1
ReLUs is right everywhere, and linear algebra finds the set I from 2d samples.  SGD on
fresh samples learns the parity for d = 5 and 10, and its accuracy stays at ½ for
d = 30: the gradient depends on I only to the order 2^{−d/2} (`parity_gradient`).  From
5 to 10 bits the time to learn rises with d.  The control has one relevant bit instead
of half of them: the same network learns it for thirty bits too.

As published: 10d ReLUs with biases, hinge loss, learning rate 0.01, 128 fresh samples
in each step, 50,000 steps; `quick` has 10,000.  The accuracy is measured on 4000
samples that are never used for training.

Reference: Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950, section 2, and
parity.py of its repository.
"""

from collections.abc import Callable
from typing import Any, Literal

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets import parity
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.boolean._learning_times import (
    LEARNED,
    learning_times,
    slopes_of_seeds,
)
from simbias.experiments.boolean._published_start import published_start
from simbias.figures.band import band
from simbias.figures.logarithmic import logarithmic
from simbias.figures.style import COLOURS, blank, style
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
# What the claims are about: 10,000 steps.
LEAST_TIME = 100.0
# What the figure and the claims read.
AXES = ("relevant", "d")
Relevant = Literal["half", "one"]


def make(
    key: PRNGKeyArray, *, relevant: Relevant = "half", d: int = 10, n: int = 4000
) -> tuple[Dataset, AbstractNetwork]:
    """Samples for the accuracy, the law of fresh samples, and a network of 10d ReLUs.

    Args:
        key: random key.
        relevant: whether the parity is of a random half of the bits or of one bit.
        d: number of bits.
        n: samples on which the accuracy is measured.
    """
    key_data, key_network = jax.random.split(key)
    one_of("relevant", relevant, ("half", "one"))
    positive_integer("d", d)
    k = None if relevant == "half" else 1
    network = published_start(key_network, (d, 10 * d, 1))
    return parity(key_data, n=n, d=d, k=k), network


def _times(final: float) -> tuple[float, ...]:
    return log_times(0.2, final, 40)


experiment = presets(
    Experiment(
        name="parity",
        make=make,
        cell={"relevant": ("half", "one"), "d": (5, 6, 8, 10, 30)},
        seeds=20,
        flow=Descent(rate=RATE, batch=128, sampling="fresh"),
        loss=hinge,
        times=_times(100.0),
        measures={"accuracy": TrainSignAccuracy()},
        stop=TrainAccuracyAbove(1.0),
        dtype="float32",
    ),
    smoke={
        "cell": {"relevant": "half", "d": 5, "n": 500},
        "seeds": 6,
        "times": (0.0, 10.0, 100.0),
    },
    paper={"cell": {"d": (5, 6, 8, 10, 12, 14, 30, 100)}, "times": _times(500.0)},
)


def figure(ds: xr.Dataset) -> Figure:
    """Accuracy by time for every d, and the time to 0.9 against d."""
    with style():
        whole = blank(9.6, 3.8)
        left, right = whole.subplots(1, 2)
        half, one = (_where(ds, kind) for kind in ("half", "one"))
        for part, line, text in ((half, "-", "d = {}"), (one, "--", None)):
            if part is None:
                continue
            for i, d in enumerate(part["d"].values):
                label = text.format(d) if text else None
                of = part["accuracy"].sel(d=d)
                time, colour = np.maximum(ds["time"], 0.1), COLOURS[i % len(COLOURS)]
                alpha = 0.12 if text else 0.0
                band(left, time, of, line, colour=colour, label=label, alpha=alpha)
        left.set_xscale("log")
        left.set_ylim(0.25, 1.03)
        left.set_xlabel("time, steps × rate")
        left.set_title("accuracy; dashed: one relevant bit")
        left.legend(loc="lower center", ncols=3)
        _draw_times(right, half, one)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Few bits are learned, thirty are not."""
    half, one = (_where(ds, kind) for kind in ("half", "one"))
    out = []
    for d in (5, 10):
        text = f"half of {d} bits: accuracy at the end, smallest"
        out.append(_at_end(smallest_of, text, half, d, (0.9, 1.0), LEARNS))
    text = "half of 30 bits: accuracy at the end, mean"
    out.append(_at_end(mean_of, text, half, 30, (0.48, 0.52), FAILS))
    out.append(_rise(half))
    text = "control, one bit of 30: accuracy at the end, smallest"
    out.append(_at_end(smallest_of, text, one, 30, (0.98, 1.0), "ours"))
    return out


def _where(ds: xr.Dataset, relevant: str) -> xr.Dataset | None:
    """The part of the result with so many relevant bits, if there is any."""
    has = relevant in ds["relevant"].values
    return ds.sel(relevant=relevant) if has else None


def _at_end(
    claim: Callable[..., Claim],
    text: str,
    part: xr.Dataset | None,
    d: int,
    band: tuple[float, float],
    source: str,
) -> Claim:
    """A claim about the final accuracies of all seeds, for that many bits."""
    if part is None or d not in part["d"].values:
        return claim(text, [], band, source).given(False, f"d = {d}")
    end = part["accuracy"].sel(d=d).isel(time=-1)
    return claim(text, end, band, source)


def _rise(half: xr.Dataset | None) -> Claim:
    """Slope of ln time in d, over the sizes at which most networks learn."""
    text = f"half of d ≤ 10 bits: slope of ln time to {LEARNED} in d"
    if half is None or half.sel(d=half["d"] <= 10).sizes["d"] < 3:
        return mean_of(text, [], (0, np.inf), "ours").given(
            False, "three sizes up to 10"
        )
    few = half.sel(d=half["d"] <= 10)
    # A network that has not learned counts with the final time: the slope is too small.
    times = learning_times(few, RATE).fillna(float(few["time"][-1]))
    slopes = slopes_of_seeds(few["d"].values, times, "d")
    return mean_of(text, slopes, (0, np.inf), "ours")


def _draw_times(axes: Any, half: xr.Dataset | None, one: xr.Dataset | None) -> None:
    for part, colour, label in (
        (half, COLOURS[0], "half of the bits"),
        (one, COLOURS[1], "one bit"),
    ):
        if part is None:
            continue
        times = learning_times(part, RATE)
        for i, d in enumerate(part["d"].values):
            seen = times.sel(d=d).values
            name = label if i == 0 else None
            place = d * (1 + 0.02 * np.linspace(-1, 1, seen.size))
            axes.plot(place, seen, "o", ms=3, alpha=0.6, color=colour, label=name)
            missing = int(np.isnan(seen).sum())
            if missing:
                top = float(part["time"][-1])
                text = f"{missing} of {seen.size}\nnever"
                axes.annotate(text, (d, 1.3 * top), ha="center", fontsize=8)
                axes.plot(d, top, "^", color=colour)
    logarithmic(axes)
    ticks = [] if half is None else half["d"].values
    axes.set_xticks(ticks, [str(d) for d in ticks])
    axes.minorticks_off()
    axes.margins(x=0.1, y=0.2)
    axes.set_xlabel("bits, d")
    axes.set_title(f"time to an accuracy of {LEARNED}, every seed")
    axes.legend(loc="center right")
