"""Deeper networks have features of lower rank, before training and after it.

The Gram matrix of what the last layer acts on, over Gaussian inputs, of networks of one
width and 1 to 16 hidden layers: its effective rank −Σ p ln p, p = σ/Σσ, falls with the
logarithm of the depth, of linear, ReLU and tanh networks, at the start and when a
linear map has been learned.  Products of Gaussian matrices are ill conditioned, the
more so the more factors; control, exact: orthogonal layers keep the rank of the inputs.

Reference: Huh et al. (2023), arXiv:2103.10427; sizes and tasks are ours.
"""

from typing import Any, ClassVar

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.sample import one_of
from simbias.checks.values import positive_integer
from simbias.claims import largest_of, mean_of
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Index,
)
from simbias.experiments._times import step_times
from simbias.experiments.rank._matrices import low_rank_target
from simbias.experiments.rank._stack import KINDS, stack
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures.rank.feature_rank import FeatureRank
from simbias.measures.risk.train_loss import TrainLoss
from simbias.numerics.matrix_rank import spectral_entropy
from simbias.presets import presets

HUH = "Huh et al. (2023), arXiv:2103.10427"
AXES = ("network", "depth")


class InputRank(AbstractMeasure):
    """−Σ p ln p of the Gram matrix of the inputs, as `FeatureRank` of the features."""

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Entropy of the inputs."""
        del network
        return spectral_entropy(data.x, is_squared=True)


def make(
    key: PRNGKeyArray,
    *,
    network: str = "relu",
    depth: Index = 4,
    most: int = 16,
    m: int = 64,
    n: int = 64,
    rank: Index = 8,
    outputs: int = 8,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear map of Gaussian x, and a network whose layers are as wide as the input.

    Args:
        key: random key.
        network: "linear", "relu", "tanh", or "orthogonal", see `stack`.
        depth: number of hidden layers, 1 to `most`.
        most: layers that are drawn, the largest depth.
        m: width of them and of the input.
        n: samples.
        rank: of the map.
        outputs: of the network.

    Raises:
        ValueError: for a name that is not known, or a size out of range.
    """
    positive_integer("m", m)
    one_of("network", network, KINDS)
    key_data, key_network = jax.random.split(key)
    data = low_rank_target(key_data, n=n, d=m, k=outputs, rank=rank)
    made = stack(key_network, kind=network, depth=depth, most=most, m=m, k=outputs)
    return data, made


_STEPS, _RATE = 100, 2e-3

experiment = presets(
    Experiment(
        name="low_rank_embeddings",
        make=make,
        cell={"network": KINDS, "depth": (1, 2, 4, 8, 16)},
        seeds=20,
        flow=Descent(rate=_RATE, optimiser="adam"),
        loss=half_mse,
        times=step_times(_RATE, _STEPS, 50),
        measures={
            "feature_rank": FeatureRank(),
            "input_rank": InputRank(),
            "train_loss": TrainLoss(),
        },
    ),
    smoke={
        "cell": {
            "network": ("relu", "orthogonal"),
            "depth": (1, 2, 4),
            "most": 4,
            "m": 8,
            "n": 16,
        },
        "seeds": 6,
        "times": tuple(_RATE * s for s in range(0, 151, 75)),
    },
    paper={
        "cell": {"n": 128},
        "seeds": 100,
        "times": tuple(_RATE * s for s in range(0, 3001, 500)),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Effective rank of the features against depth, at the start and at the end."""
    ds = with_axes(ds, AXES)
    with style():
        whole = blank(10.0, 3.8)
        panels = whole.subplots(1, 2, sharey=True)
        for axes, i, text in zip(panels, (0, -1), ("start", "trained"), strict=True):
            for name, colour in zip(ds["network"].values, COLOURS, strict=False):
                part = ds["feature_rank"].sel(network=name).isel(time=i)
                band(axes, ds["depth"], part, "o-", colour=colour, label=name, ms=4)
            axes.set(xscale="log", xlabel="hidden layers", title=f"−Σ p ln p, {text}")
            axes.set_xticks(ds["depth"].values, [f"{v:d}" for v in ds["depth"].values])
            axes.minorticks_off()
            law_level(axes, ds["input_rank"].median().item(), "inputs, median")
        panels[0].legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Slopes in ln depth, and that a linear map has been learned."""
    ds = with_axes(ds, AXES)
    loss = ds["train_loss"]
    share = loss.isel(time=-1) / loss.isel(time=0)
    is_trained = float(share.max(skipna=False)) < 0.1
    out = []
    for name in ds["network"].values:
        rank = ds["feature_rank"].sel(network=name)
        if name == "orthogonal":
            continue  # they keep the rank of the inputs
        for i, when in ((0, "start"), (-1, "trained")):
            text = f"{name}, {when}: slope of −Σ p ln p in ln depth, mean"
            slopes = slope_in_log(rank.isel(time=i), "depth")
            claim = mean_of(text, slopes, (-np.inf, 0), HUH)
            out.append(
                claim.given(i == 0 or is_trained, "a loss below 0.1 of the first")
            )
    text = "loss after training over that of the start, largest of medians"
    middle = share.median("seed", skipna=False)
    learned = largest_of(text, middle, (0, 0.1), "ours")
    out.append(learned.given(int(ds["m"]) >= 64, "m ≥ 64"))
    return [c.given(ds.sizes["depth"] > 1, "two depths") for c in out]


def slope_in_log(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Slope of least squares of values on the logarithm of a coordinate."""
    x = xr.ufuncs.log(values[dim].astype(float))
    x = x - x.mean()
    return (x * values).sum(dim, skipna=False) / max(float((x**2).sum()), 1e-12)
