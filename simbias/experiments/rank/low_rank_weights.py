"""ReLU networks whose last K layers are linear: those end with rank 1, the ReLUs not.

Five matrices without biases, W_5 ⋯ W_{6−K} φ(⋯ φ(W_1 x)), on two classes under the
logistic loss.  Of the last K the stable rank comes to 1 and neighbours align, for the
reason for which all do in a linear network (`low_rank_linear`); layers below a ReLU are
balanced only in their norms and keep a larger one.

There is no exact flow for deep ReLU networks here.  Descent takes steps of one length,
θ ← θ − rate·g/‖g‖, g the gradient of ln L: the path of the gradient flow, by its
length, as far as steps are short.  Two lengths show that they are.

Reference: Le & Jegelka (2022), arXiv:2201.11968; sizes and samples are ours.
"""

from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.values import positive
from simbias.claims import largest_of, mean_of, share_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiments.rank._layers import LE, SquaredNorms, StableRanks, drift
from simbias.experiments.rank._samples import Source, inputs, two_classes
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows._descent.normalised import normalised
from simbias.flows.descent import Descent
from simbias.losses import log_logistic
from simbias.measures.rank.layer_alignment import LayerAlignment
from simbias.measures.risk.margin import Margin
from simbias.measures.risk.train_loss import TrainLoss
from simbias.networks.dense.mlp import mlp
from simbias.presets import presets

AXES = ("source", "linear", "flow.rate")
DEPTH = 5
# What the claims are about: the path of the smallest preset at least.
LEAST = 20.0


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "blobs",
    linear: int = 2,
    scale: Real = 0.1,
    m: int = 16,
    n: int = 32,
    d: int = 5,
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Two classes, and five matrices N(0, 2·scale²/inputs) with ReLUs below the last K.

    Args:
        key: random key.
        source: "blobs", "digits" or "mnist", the digits 0 and 1.
        linear: K, 1 (a usual network) to 5 (a linear one).
        scale: of the weights.
        m: width of the hidden layers.
        n: samples.
        d: inputs of the blobs.
        data_dir: folder with the files of MNIST.

    Raises:
        ValueError: for a name that is not known, or a number out of range.
    """
    positive("scale", scale)
    if isinstance(linear, bool) or linear not in range(1, DEPTH + 1):
        raise BadInput(
            f"`linear` must be from 1 to {DEPTH}, the last of the matrices without a "
            f"ReLU between them, got {linear!r}. Example: linear=2."
        )
    key_data, key_network = jax.random.split(key)
    data = two_classes(key_data, source, n, d, data_dir)
    widths = (inputs(source, d), *[m] * (DEPTH - 1), 1)
    network = mlp(key_network, widths, scale=scale, has_bias=False, linear=linear - 1)
    return data, network


def _times(end: float) -> tuple[float, ...]:
    return tuple(float(t) for t in np.linspace(0, end, 41))


experiment = presets(
    Experiment(
        name="low_rank_weights",
        make=make,
        cell={
            "source": ("blobs", "digits"),
            "linear": (2, 3),
            "flow.rate": (0.025, 0.05),
        },
        seeds=20,
        flow=Descent(optimiser=normalised),
        loss=log_logistic,
        times=_times(20.0),
        measures={
            "stable_rank": StableRanks(),
            "alignment": LayerAlignment(),
            "norm": SquaredNorms(),
            "margin": Margin(),
            "log_loss": TrainLoss(log_logistic),
        },
    ),
    smoke={
        "cell": {"source": "blobs", "linear": 2, "m": 8, "n": 16},
        "seeds": 2,
        "times": _times(10.0),
    },
    paper={"cell": {"source": ("blobs", "mnist"), "m": 128}, "seeds": 10},
)


def figure(ds: xr.Dataset) -> Figure:
    """Stable rank of every layer by the length of the path, and alignment."""
    ds = with_axes(ds, AXES)
    fine, coarse = ds["flow.rate"].values[[0, -1]]
    sources, counts = ds["source"].values, ds["linear"].values
    with style():
        whole = blank(4.2 * (len(counts) + 1), 3.2 * len(sources) + 0.6)
        grid = whole.subplots(len(sources), len(counts) + 1, squeeze=False, sharex=True)
        for row, source in zip(grid, sources, strict=True):
            for axes, count in zip(row[:-1], counts, strict=True):
                part = ds.sel(source=source, linear=count)
                for i in range(ds.sizes["layer"]):
                    seen = part["stable_rank"].isel(layer=i)
                    place: dict[str, Any] = {
                        "colour": COLOURS[i],
                        "label": f"W_{i + 1}",
                    }
                    band(axes, ds["time"], seen.sel({"flow.rate": fine}), **place)
                    way = seen.sel({"flow.rate": coarse}).median("seed")
                    axes.plot(ds["time"], way, ":", color=COLOURS[i], lw=1.5)
                law_level(axes, 1)
                axes.set_title(f"{source}, K = {count}: stable rank")
                axes.set(ylim=(0.9, 3), xlabel="length of the path")
            part = ds.sel({"source": source, "linear": counts[-1], "flow.rate": fine})
            for i in range(ds.sizes["pair"]):
                label = f"W_{i + 2}, W_{i + 1}"
                seen = part["alignment"].isel(pair=i)
                band(row[-1], ds["time"], seen, colour=COLOURS[i], label=label)
            row[-1].set_title(f"{source}, K = {counts[-1]}: |v_{{l+1}}·u_l|")
            row[-1].set_xlabel("length of the path")
        grid[0, 0].legend(ncols=2)
        grid[0, -1].legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rank one and alignment of the last K, more below, at both rates alike."""
    ds = with_axes(ds, AXES)
    out = []
    for source in ds["source"].values:
        for count in ds["linear"].values:
            part = ds.sel(source=source, linear=count)
            out += _of_one(part, f"{source}, K = {count}", int(count))
    return [c.given(float(ds["time"][-1]) >= LEAST, f"length ≥ {LEAST:g}") for c in out]


def _of_one(part: xr.Dataset, text: str, count: int) -> list[Claim]:
    rates = part["flow.rate"].values
    last = part.isel(time=-1)
    # What the theorem asks for; where a class has died, nothing grows.
    is_told = last["margin"] > 0
    end = last.sel({"flow.rate": rates[0]})
    end = end.isel(seed=is_told.sel({"flow.rate": rates[0]}).values)
    part = part.isel(seed=is_told.all("flow.rate").values)
    last = last.isel(seed=is_told.all("flow.rate").values)
    # One layer at least, for a number that is not applicable where none has a ReLU.
    below = slice(0, max(DEPTH - count, 1))
    linear = end["stable_rank"].isel(layer=slice(DEPTH - count, None))
    ranks = last["stable_rank"].max("layer", skipna=False)
    out = [
        share_of(
            f"{text}: members that tell all of the sample",
            is_told.sel({"flow.rate": rates[0]}),
            (0.5, 1),
            "ours",
        ),
        largest_of(
            f"{text}: stable rank of the last K, largest",
            linear,
            (1, 1.01),
            f"{LE}; band ours",
        ),
        smallest_of(
            f"{text}: |v·u| of neighbours among the last K, smallest",
            end["alignment"].isel(pair=slice(DEPTH - count, None)),
            (0.99, 1),
            f"{LE}; band ours",
            tolerance=1e-12,
            most=1,
        ).given(count > 1, "K ≥ 2"),
        mean_of(
            f"{text}: stable rank of the ReLU layers, least of them, mean",
            end["stable_rank"].isel(layer=below).min("layer", skipna=False),
            (1.01, np.inf),
            f"{LE}; band ours",
        ).given(count < DEPTH, "a ReLU layer"),
    ]
    gap = drift(part["norm"])
    two = len(rates) > 1
    pair = [v.sel({"flow.rate": rates[k]}) for v in (ranks, gap) for k in (0, -1)]
    ratio = float(rates[-1] / rates[0]) if two else 2.0
    exponent = xr.ufuncs.log(pair[3] / pair[2]) / np.log(ratio)
    out += [
        mean_of(
            f"{text}: largest stable rank at the lower rate less at the higher, mean",
            pair[0] - pair[1],
            (-0.02, 0.02),
            "ours",
        ).given(two, "two rates"),
        mean_of(
            f"{text}: change of ‖W_{{l+1}}‖²_F − ‖W_l‖²_F, exponent in the rate",
            exponent,
            (0.8, 1.3),
            "derived: rate × length",
        ).given(two, "two rates"),
    ]
    return out
