"""Depth and rank of the target: which depth learns a linear map best.

ReLU networks of one width and 1 to 16 hidden layers learn y = Wx for the same number of
steps.  W is a matrix of rank 1 to 16.  Features of deep networks have a low rank
(`low_rank_embeddings`), which may help when W has a low rank too.  The best depth of a
task is the depth with the smallest loss.

Reference: Huh et al. (2023), arXiv:2103.10427, figure 1, there 64 × 64, depth 2 to 64
and momentum with a rate for each depth; sizes, Adam and its rate are ours.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.experiment_presets import presets
from simbias.experiments._times import after_steps
from simbias.experiments.rank._depth import HUH
from simbias.experiments.rank._matrices import low_rank_target
from simbias.experiments.rank._stack import stack
from simbias.figures import Curves, HeatMap, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import FeatureRank, TestRisk, TrainLoss

AXES = ("rank", "depth")


def make(
    key: PRNGKeyArray,
    *,
    rank: Index = 4,
    depth: Index = 4,
    most: int = 16,
    m: int = 16,
    n: int = 32,
) -> tuple[Dataset, AbstractNetwork]:
    """A map m × m of given rank, with E|y|² = m, and a ReLU network of width m.

    Args:
        key: random key.
        rank: rank of the map, 1 to m.
        depth: number of hidden layers, 1 to `most`.
        most: the largest depth; as many layers are drawn.
        m: inputs, outputs and width.
        n: training samples.
    """
    key_data, key_network = jax.random.split(key)
    data = low_rank_target(key_data, n=n, d=m, k=m, rank=rank, n_test=128)
    return data, stack(key_network, kind="relu", depth=depth, most=most, m=m, k=m)


_RATE = 2e-3

experiment = presets(
    Experiment(
        name="low_rank_targets",
        make=make,
        cell={"rank": (1, 2, 4, 8, 16), "depth": (1, 2, 4, 8, 16)},
        seeds=20,
        flow=Descent(rate=_RATE, optimiser="adam"),
        loss=half_mse,
        times=after_steps(_RATE, 0, 150, 300, 600),
        measures={
            "train_loss": TrainLoss(),
            "test_risk": TestRisk(),
            "feature_rank": FeatureRank(),
        },
    ),
    smoke={
        "cell": {"rank": (1, 8), "depth": (1, 2, 4), "most": 4, "m": 8, "n": 16},
        "seeds": 6,
        "times": after_steps(_RATE, 0, 50, 100),
    },
    paper={
        "cell": {
            "rank": (1, 4, 16, 32, 64),
            "depth": (2, 4, 8, 16, 32, 64),
            "most": 64,
            "m": 64,
            "n": 128,
        },
        "seeds": 25,
        "times": after_steps(_RATE, 0, 6000, 12_000, 24_000),
    },
)


def best_depth(loss: xr.DataArray) -> xr.DataArray:
    """Logarithm of the depth of least loss; NaN if a network is missing."""
    is_whole = loss.notnull().all("depth")
    index = loss.fillna(np.inf).argmin("depth")
    return xr.ufuncs.log(loss["depth"].astype(float))[index].where(is_whole)


def best_depths(part: xr.Dataset) -> xr.DataArray:
    """Best depth for training after so many steps, the geometric mean over seeds."""
    mean = xr.ufuncs.exp(
        best_depth(part["train_loss"].isel(time=slice(1, None))).mean("seed")
    )
    return mean.assign_coords(
        steps=("time", np.rint(mean["time"].values / _RATE))
    ).swap_dims(time="steps")


def _map(name: str, title: str) -> HeatMap:
    """An error at the end by rank and depth."""
    last = lambda part: xr.ufuncs.log10(part[name].isel(time=-1))
    label = "log₁₀ of the error"
    return HeatMap(last, y="rank", title=title, label=label, is_even=True)


figure = Panels(
    _map("train_loss", "½ mean squared error, training"),
    _map("test_risk", "mean squared error, test"),
    Curves(
        best_depths,
        colour="steps",
        mark="o",
        x="rank",
        xlabel="rank",
        xscale="log",
        yscale="log",
        title="best depth for training, geometric mean",
        ticks=True,
        yticks="depth",
    ),
    x="depth",
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """How the best depth depends on the rank, in training and in the test."""
    train, test = ds["train_loss"], ds["test_risk"]
    slope = lambda loss: slope_in_log(best_depth(loss), "rank")
    is_grid = ds.sizes["rank"] > 1 and ds.sizes["depth"] > 1
    text, below = "slope of ln best depth in ln rank, mean", (-np.inf, 0)
    end = {"time": -1}
    return Claims(needs={"two ranks and two depths": is_grid}).rows(
        mean_of(f"training: {text}", slope(train.isel(end)), below, HUH),
        mean_of(f"test: {text}", slope(test.isel(end)), below, HUH),
        mean_of(
            f"start (control): {text}", slope(train.isel(time=0)), (-0.2, 0.2), "ours"
        ),
    )
