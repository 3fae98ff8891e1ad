"""Depth and detail: coarse and fine levels of a Cantor set, by depth.

The class is whether x lies in a Cantor set of five cuts or in a gap.  A network of five
hidden layers with weights written by hand is right everywhere.  What Adam finds depends
on where the gaps are.  Let P(j) be the accuracy of a classifier that resolves j levels
and no more.  If P rises early (coarse gaps), the trained network is nearly right.  If
all gaps are of the last level, its accuracy stays at ½ at every depth.  In between, the
accuracy follows P.

As in the published code: five coordinates, each of which determines the class; 20 ReLUs
in each layer, with biases of 0.1; hinge loss, Adam with learning rate 0.005, batch size
100.  Our choices: fresh samples in every step instead of 50,000 fixed ones, 10,000
steps instead of 10⁶, and the degree −2, coarser than the published ones (0 and above).

Reference: Malach & Shalev-Shwartz (2019), arXiv:1903.03488, and cantor.py and
network.py of its repository (the values of its figures could not be read).
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import Claims, difference_of, mean_of
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.datasets import cantor
from simbias.experiment_presets import presets
from simbias.experiments.boolean._by_hand import cantor_by_hand
from simbias.experiments.boolean._published_start import published_start
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.losses import hinge
from simbias.measures import TrainSignAccuracy
from simbias.theory.approximation_curve import approximation_curve

PAPER = "Malach & Shalev-Shwartz (2019), arXiv:1903.03488"
RATE = 0.005
LEVELS = 5
# What the claims on trained networks are about: 10,000 steps.
TRAINED = 50.0
COARSE, FINE = -2.0, 100.0
# What the figure and the claims read.
AXES = ("degree", "depth")


class ByHand(AbstractMeasure):
    """Accuracy of networks written by hand that resolve 1, …, 5 levels."""

    dims: ClassVar[tuple[str, ...]] = ("level",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " j"]:
        """By level; the trained network is not used."""
        del network
        d = data.x.shape[1]
        known = [cantor_by_hand(d, j) for j in range(1, LEVELS + 1)]
        dtype = data.x.dtype
        cast = lambda tree: jax.tree.map(lambda v: v.astype(dtype), tree)
        return jnp.stack([TrainSignAccuracy()(cast(net), data) for net in known])

    def coords(self) -> dict[str, np.ndarray]:
        """Numbers of levels."""
        return {"level": np.arange(1, LEVELS + 1)}


def make(
    key: PRNGKeyArray,
    *,
    degree: Real = 0.0,
    depth: int = 5,
    d: int = 5,
    m: int = 20,
    n: int = 4000,
) -> tuple[Dataset, AbstractNetwork]:
    """Samples for the accuracy, the law of fresh samples, and a network of that depth.

    Args:
        key: random key.
        degree: −2 has the coarsest gaps; with a large degree, such as 100, all gaps
            are of the last level.
        depth: number of hidden layers.
        d: number of coordinates, each of which determines the class.
        m: neurons of each hidden layer.
        n: samples on which the accuracy is measured.
    """
    key_data, key_network = jax.random.split(key)
    data = cantor(key_data, n=n, d=d, levels=LEVELS, degree=degree)
    return data, published_start(key_network, (d, *[m] * depth, 1), bias=0.1)


def _times(final: float, records: int = 10) -> tuple[float, ...]:
    return tuple(np.linspace(0, final, records + 1).tolist())


experiment = presets(
    Experiment(
        name="cantor",
        make=make,
        cell={"degree": (COARSE, 0.0, 2.0, FINE), "depth": (1, 2, 3, 4, 5)},
        seeds=6,
        flow=Descent(rate=RATE, batch=100, sampling="fresh", optimiser="adam"),
        loss=hinge,
        times=_times(50.0),
        measures={"accuracy": TrainSignAccuracy()},
        final={"by_hand": ByHand()},
        dtype="float32",
    ),
    smoke={
        "cell": {"degree": (COARSE, FINE), "depth": 1, "n": 1000},
        "times": _times(2.5, 2),
    },
    paper={
        "cell": {"degree": (COARSE, 0.0, 1.0, 2.0, 4.0, FINE)},
        "seeds": 20,
        "times": _times(5000.0, 100),
    },
)


def best_accuracy(ds: xr.Dataset) -> xr.DataArray:
    """Final accuracy of the best depth, for each degree and seed."""
    return ds["accuracy"].isel(time=-1).max("depth", skipna=False)


def figure(ds: xr.Dataset) -> Figure:
    """Final accuracy against the depth of the network, with P(j), by degree."""
    degrees = ds["degree"].values
    with style():
        whole = blank(2.9 * len(degrees) + 0.4, 3.6)
        row = whole.subplots(1, len(degrees), sharey=True, squeeze=False)[0]
        for axes, degree in zip(row, degrees, strict=True):
            cell = ds.sel(degree=degree)
            level = np.arange(LEVELS + 1)
            law = approximation_curve(LEVELS, float(degree))
            axes.plot(level, law, "k:", lw=1.2, label="P(j)")
            hand = cell["by_hand"].isel(depth=0).mean("seed")
            axes.plot(
                hand["level"], hand, "x", color=COLOURS[2], label="by hand, j levels"
            )
            end = cell["accuracy"].isel(time=-1)
            for i in range(end.sizes["seed"]):
                label = "trained, depth j" if i == 0 else None
                style_ = {"ms": 4, "alpha": 0.6, "color": COLOURS[0]}
                axes.plot(end["depth"], end.isel(seed=i), "o", label=label, **style_)
            axes.set_title(_named(float(degree)))
            axes.set_xlabel("level j, or depth")
            axes.set_xticks(level)
        row[0].set_ylim(0.45, 1.03)
        row[0].set_ylabel("accuracy")
        row[-1].legend(loc="center left")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Coarse gaps are learned, fine ones not; in between the accuracy follows P."""
    curves = {float(p): approximation_curve(LEVELS, float(p)) for p in ds["degree"]}
    is_trained = float(ds["time"][-1]) >= TRAINED
    return Claims({f"t ≥ {TRAINED:g}": is_trained}).rows(*_of_training(ds, curves))


def _of_training(
    ds: xr.Dataset, curves: dict[float, Float[np.ndarray, " j"]]
) -> list[Claim]:
    """Claims about the trained networks, at the final time."""
    best, end = best_accuracy(ds), ds["accuracy"].isel(time=-1)
    has_deep = FINE in curves and LEVELS in ds["depth"].values
    coarse = best.sel(degree=COARSE) if COARSE in curves else []
    fine = end.sel(degree=FINE, depth=LEVELS) if has_deep else []
    # For every seed and level: the mean of |best accuracy − P(j)| over the curves.
    laws = xr.DataArray([*curves.values()], {"degree": [*curves]}, ("degree", "level"))
    off = abs(best - laws).mean("degree", skipna=False)
    nearest = int(np.argmin(np.nan_to_num(off.mean("seed").values, nan=np.inf)))
    is_other = np.arange(LEVELS + 1) != nearest
    others = off.isel(level=is_other).min("level", skipna=False)
    own = off.isel(level=nearest)
    follows = f"|best accuracy − P({nearest})| over the curves"
    seen = "ours; the level is the nearest, as seen"
    has_more = len(curves) > 1
    return [
        mean_of(
            "coarse gaps: accuracy of the best depth", coarse, (0.9, 1), "ours"
        ).given(COARSE in curves, f"degree = {COARSE:g}"),
        mean_of(
            "fine gaps: accuracy at depth 5", fine, (0.45, 0.55), f"{PAPER} (?)"
        ).given(has_deep, f"degree = {FINE:g} and depth = 5"),
        mean_of(follows, own, (0, 0.05), seen).given(has_more, "two degrees"),
        difference_of(
            f"{follows} − the same of the next level", own, others, (-np.inf, 0), seen
        ).given(has_more, "two degrees"),
    ]


def _named(degree: float) -> str:
    names = {COARSE: "coarse", 0.0: "even", FINE: "only the finest"}
    name = names.get(degree)
    value = f"p = {degree:g}".replace("-", "−")
    return value if name is None else f"{value}, {name}"
