"""Random functions and random networks that fit: only the networks generalise.

The inputs are all 128 strings of 7 bits; 6 of them are the training sample.  The label
is the majority of three bits.  Random functions that are right on the 6 are right on
half of the others on average.  Random untrained networks that fit are right more often,
and so is a network trained by SGD.  So both differ from random functions.  On the
parity of all bits, the control, they are not right more often.  SGD is evaluated at the
first record at which it fits, and at the end.

Reference: Barak (2021), Harvard CS 229br, lecture 2, "a random f fitting the sample
will never generalize"; for random networks Valle-Pérez, Camargo & Louis (2019),
arXiv:1805.08522, and Mingard et al. (2021), arXiv:2006.15191, whose numbers are not
used here.
"""

import math

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes

from simbias.claims import Claims, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments.order._strings import Target, drawn, strings
from simbias.figures import COLOURS, Drawing, Estimates, Law, Panels, VerticalLaw, means
from simbias.flows import Descent
from simbias.losses import logistic
from simbias.measures import Guesses, TestSignAccuracy, TrainSignAccuracy
from simbias.networks.dense.mlp import LayerLaw
from simbias.validation.values import positive_integers

SLIDE = "slide of the lecture"
AXES = ("target",)
RATE = 0.1
GUESSERS = ("uniform", "network")
# A run that ends before this is of random networks alone.
TRAINED = 10.0
HALF = ((0.495, 0.505), f"{SLIDE}, ½; width ours")
CONTROL = ((0.0, 0.5), "ours: control, not above ½")


def make(
    key: PRNGKeyArray,
    *,
    target: Target = "majority",
    n: int = 6,
    d: int = 7,
    m: int = 40,
    depth: int = 2,
    law: LayerLaw = "torch",
) -> tuple[Dataset, AbstractNetwork]:
    """A sample of n of the 2ᵈ strings, and a ReLU network.

    Args:
        key: random key.
        target: "majority" of the first three bits, or "parity" of all.
        n: training strings.
        d: bits of a string.
        m: width of the hidden layers.
        depth: number of hidden layers.
        law: law of the initial weights.
    """
    key_data, key_network = jax.random.split(key)
    positive_integers(m=m, depth=depth)
    data = strings(key_data, d=d, n=n, target=target)
    return data, drawn(key_network, (d, *[m] * depth, 1), law)


experiment = presets(
    Experiment(
        name="random_fit",
        make=make,
        cell={"target": ("majority", "parity")},
        seeds=20,
        flow=Descent(rate=RATE, batch=1),
        loss=logistic,
        times=tuple(float(k) for k in range(31)),
        measures={
            "train_accuracy": TrainSignAccuracy(),
            "rest_accuracy": TestSignAccuracy(),
        },
        final={"guesses": Guesses()},
    ),
    smoke={"seeds": 8, "final": {"guesses": Guesses(draws=2000)}},
    paper={"seeds": 200, "final": {"guesses": Guesses(draws=100_000)}},
)


def fits(ds: xr.Dataset) -> xr.DataArray:
    """Number of functions that fit the sample, by law."""
    return ds["guesses"].sum("right", skipna=False)


def accuracies(ds: xr.Dataset) -> xr.DataArray:
    """Mean accuracy on the rest of those that fit; NaN where none fits."""
    right = xr.DataArray(np.arange(ds.sizes["right"]), dims="right")
    found, rest = fits(ds), ds.sizes["right"] - 1
    total = (ds["guesses"] * right).sum("right", skipna=False)
    return total / found.where(found > 0) / rest


def uncorrelated(part: xr.Dataset) -> xr.DataArray:
    """For the parity: accuracy on the rest if half of all strings are right."""
    n, whole = part["n"], 2.0 ** part["d"]
    return ((whole / 2 - n) / (whole - n)).where(part["target"] == "parity")


def fitted(ds: xr.Dataset) -> xr.Dataset:
    """Every network at its first record at which it fits; NaN if there is none."""
    reached = ds["train_accuracy"] == 1
    first = ds[["rest_accuracy"]].isel(time=reached.argmax("time"))
    return first.where(reached.any("time"))


def claims(ds: xr.Dataset) -> list[Claim]:
    """A half for uniform functions, more for networks; the parity is the control."""
    time = float(ds["time"][-1])
    out = []
    for target in ds["target"].values:
        part = ds.sel(target=target)
        end, first = part.isel(time=-1), fitted(part)["rest_accuracy"]
        # Right on the sample at the cost of the rest is at most a half.
        band = ((0.5, 1.0), "ours: above ½") if target == "majority" else CONTROL
        uniform, network = (accuracies(part).sel(guesser=name) for name in GUESSERS)
        few = fits(part).sel(guesser="network")
        text = f"{target}: networks that fit, fewest"
        out += [
            mean_of(f"{target}: uniform f that fits, on the rest", uniform, *HALF),
            mean_of(f"{target}: random network that fits, on the rest", network, *band),
            smallest_of(text, few, (1, np.inf), "ours"),
        ]
        text, last = f"{target}: SGD at t = {time:g}, on the rest", end["rest_accuracy"]
        learned = end["train_accuracy"]
        out += Claims(needs={f"t ≥ {TRAINED:g}": time >= TRAINED}).rows(
            mean_of(f"{target}: SGD when it first fits, on the rest", first, *band),
            mean_of(text, last, *band),
            smallest_of(f"{target}: SGD on the sample, least", learned, (1, 1), "ours"),
        )
    return out


def _draw_rest(axes: Axes, part: xr.Dataset) -> None:
    """Every seed has the same weight, however many of its functions fit."""
    rest = part.sizes["right"] - 1
    share = part["guesses"] / fits(part).where(fits(part) > 0)
    at = np.arange(rest + 1) / rest
    # As many of the possible values in every bin.
    edges = [(4 * k - 0.5) / rest for k in range(rest // 4 + 2)]
    texts = ("uniform function", "random network")
    for name, text, colour in zip(GUESSERS, texts, COLOURS, strict=False):
        values = share.sel(guesser=name).mean("seed").fillna(0).values
        look = {"color": colour, "weights": values, "label": text}
        axes.hist(at, edges, histtype="stepfilled", alpha=0.35, **look)
    law = [math.comb(rest, k) / 2**rest for k in range(rest + 1)]
    look = {"color": "black", "ls": "--", "weights": law, "label": "fair coins"}
    axes.hist(at, edges, histtype="step", **look)
    last = part["rest_accuracy"].isel(time=-1)
    text, low = f"SGD, t = {float(last['time']):g}, each", axes.get_xaxis_transform()
    axes.vlines(last.values, 0, 0.2, COLOURS[2], lw=1, label=text, transform=low)
    axes.set_yticks([])


def _means(part: xr.Dataset) -> xr.DataArray:
    """Accuracies on the rest: random functions, SGD at its first fit and at the end."""
    end = part["rest_accuracy"].isel(time=-1)
    rows = [accuracies(part).sel(guesser=name, drop=True) for name in GUESSERS]
    rows += [fitted(part)["rest_accuracy"], end]
    rows = [row.drop_vars("time", errors="ignore") for row in rows]
    names = ["uniform\nfunction", "random\nnetwork", "SGD,\nfirst fit", "SGD,\nend"]
    return means(xr.concat(rows, xr.DataArray(names, dims="of", name="of")))


figure = Panels(
    Drawing(
        _draw_rest,
        x="right",
        title="right on the rest",
        xlabel="test accuracy",
        xlim=(0.2, 1),
        laws=(VerticalLaw(0.5),),
    ),
    Estimates(
        _means,
        x=lambda part: _means(part)["of"],
        title="mean over seeds, 95 %",
        xlabel="",
        ylabel="accuracy on the rest",
        xlim=(-0.5, 3.5),
        laws=(Law(0.5, line=":"), Law(uncorrelated, "no correlation with the parity")),
    ),
    columns="target",
)
