"""Low-rank embeddings: deeper networks, lower rank, before training and after it.

The features are the inputs of the last layer, and K is their Gram matrix on Gaussian
inputs.  Linear, ReLU and tanh networks have one width and 1 to 16 hidden layers.  The
effective rank −Σ p ln p of K, p = σ/Σσ, falls with the logarithm of the depth.  This is
so at initialisation, and after a linear map has been learned.  The reason is that
products of Gaussian matrices are ill conditioned.  In the control, networks of
orthogonal layers keep the rank of the inputs exactly at initialisation.

Reference: Huh et al. (2023), arXiv:2103.10427; sizes and tasks are ours.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, largest_of, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.experiment_presets import presets
from simbias.experiments._times import step_times
from simbias.experiments.rank._depth import HUH, ends
from simbias.experiments.rank._matrices import low_rank_target
from simbias.experiments.rank._stack import KINDS, stack
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import FeatureRank, InputRank, TrainLoss
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

AXES = ("network", "depth")


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
        most: the largest depth; as many layers are drawn.
        m: width of the layers and of the input.
        n: training samples.
        rank: rank of the map.
        outputs: number of outputs of the network.
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


figure = Panels(
    Curves(
        "feature_rank",
        colour="network",
        mark="o",
        ylabel="−Σ p ln p of the features",
        ticks=True,
        laws=(Law(lambda part: part["input_rank"].median(), "inputs, median"),),
    ),
    columns="time",
    of=lambda ds: ends(ds).sortby("time"),
    x="depth",
    xlabel="hidden layers",
    xscale="log",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Slopes in ln depth, and that a linear map has been learned."""
    loss = ds["train_loss"]
    share = loss.isel(time=-1) / loss.isel(time=0)
    trained = Claims(
        needs={"a loss below 0.1 of the first": float(share.max(skipna=False)) < 0.1}
    )
    out = []
    for name in ds["network"].values:
        if name == "orthogonal":
            continue  # they keep the rank of the inputs
        rank = ds["feature_rank"].sel(network=name)
        slope = lambda i, rank=rank: slope_in_log(rank.isel(time=i), "depth")
        text = f"{name}, start: slope of −Σ p ln p in ln depth, mean"
        out.append(mean_of(text, slope(0), (-np.inf, 0), HUH))
        text = f"{name}, trained: slope of −Σ p ln p in ln depth, mean"
        out += trained.rows(mean_of(text, slope(-1), (-np.inf, 0), HUH))
    text = "loss after training over that of the start, largest of medians"
    learned = largest_of(text, share.median("seed", skipna=False), (0, 0.1), "ours")
    out += Claims(needs={"m ≥ 64": int(ds["m"]) >= 64}).rows(learned)
    return Claims(needs={"two depths": ds.sizes["depth"] > 1}).rows(*out)
