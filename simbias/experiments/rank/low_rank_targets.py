"""Which depth learns a linear map best: the deeper, the lower the rank of the map.

ReLU networks of one width and 1 to 16 hidden layers learn y = Wx, W a matrix of rank 1
to 16, for the same number of steps.  Features of deep networks have a low rank
(`low_rank_embeddings`): good for a map that has one.  The best depth is that of the
least loss of a task, over the depths.

Reference: Huh et al. (2023), arXiv:2103.10427, figure 1, there 64 × 64, depth 2 to 64
and momentum with a rate for each depth; sizes, Adam and its rate are ours.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.claims import mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.experiments.rank._matrices import low_rank_target
from simbias.experiments.rank._stack import stack
from simbias.experiments.rank.low_rank_embeddings import HUH, slope_in_log
from simbias.figures.heat_map import heat_map
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures.rank.feature_rank import FeatureRank
from simbias.measures.risk.test_risk import TestRisk
from simbias.measures.risk.train_loss import TrainLoss
from simbias.presets import presets

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
    """A map m × m of a rank, with E|y|² = m, and a ReLU network as wide.

    Args:
        key: random key.
        rank: of the map, 1 to m.
        depth: number of hidden layers, 1 to `most`.
        most: layers that are drawn, the largest depth.
        m: inputs, outputs and width.
        n: samples.

    Raises:
        ValueError: for a size out of range.
    """
    key_data, key_network = jax.random.split(key)
    data = low_rank_target(key_data, n=n, d=m, k=m, rank=rank, n_test=128)
    return data, stack(key_network, kind="relu", depth=depth, most=most, m=m, k=m)


_STEPS, _RATE = 600, 2e-3

experiment = presets(
    Experiment(
        name="low_rank_targets",
        make=make,
        cell={"rank": (1, 2, 4, 8, 16), "depth": (1, 2, 4, 8, 16)},
        seeds=20,
        flow=Descent(rate=_RATE, optimiser="adam"),
        loss=half_mse,
        times=tuple(_RATE * s for s in (0, _STEPS // 4, _STEPS // 2, _STEPS)),
        measures={
            "train_loss": TrainLoss(),
            "test_risk": TestRisk(),
            "feature_rank": FeatureRank(),
        },
    ),
    smoke={
        "cell": {"rank": (1, 8), "depth": (1, 2, 4), "most": 4, "m": 8, "n": 16},
        "seeds": 6,
        "times": tuple(_RATE * s for s in (0, 50, 100)),
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
        "times": tuple(_RATE * s for s in (0, 6000, 12_000, 24_000)),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Loss by rank and depth, training and test, and the best depth."""
    ds = with_axes(ds, AXES)
    with style():
        whole = blank(13.0, 3.8)
        train, test, best = whole.subplots(1, 3)
        for axes, name in ((train, "train_loss"), (test, "test_risk")):
            seen = xr.ufuncs.log10(ds[name].isel(time=-1).median("seed"))
            numbered = seen.assign_coords(
                depth=np.arange(seen.sizes["depth"]), rank=np.arange(seen.sizes["rank"])
            )
            heat_map(axes, numbered, "depth", "rank", label=f"log₁₀ of {name}")
            for dim, ticks in (("depth", axes.set_xticks), ("rank", axes.set_yticks)):
                ticks(np.arange(ds.sizes[dim]), [f"{v:d}" for v in ds[dim].values])
        train.set_title("½ mean squared error, training")
        test.set_title("mean squared error, test")
        for i, colour in zip(range(1, ds.sizes["time"]), COLOURS, strict=False):
            steps = round(float(ds["time"][i]) / _RATE)
            way = xr.ufuncs.exp(best_depth(ds["train_loss"].isel(time=i)).mean("seed"))
            label = f"{steps} steps"
            best.plot(ds["rank"], way, "o-", color=colour, ms=4, label=label)
        best.set(xscale="log", yscale="log", xlabel="rank")
        best.set_title("best depth for training, geometric mean")
        for ticks, dim in ((best.set_xticks, "rank"), (best.set_yticks, "depth")):
            ticks(ds[dim].values, [f"{v:d}" for v in ds[dim].values])
        best.minorticks_off()
        best.legend()
    return whole


def best_depth(loss: xr.DataArray) -> xr.DataArray:
    """Logarithm of the depth of least loss, NaN where a member is missing."""
    is_whole = loss.notnull().all("depth")
    index = loss.fillna(np.inf).argmin("depth")
    return xr.ufuncs.log(loss["depth"].astype(float))[index].where(is_whole)


def claims(ds: xr.Dataset) -> list[Claim]:
    """How the best depth goes with the rank, in training; and how in the test."""
    ds = with_axes(ds, AXES)
    slope = lambda loss: slope_in_log(best_depth(loss), "rank")
    out = []
    for name, text in (("train_loss", "training"), ("test_risk", "test")):
        seen = slope(ds[name].isel(time=-1))
        statement = f"{text}: slope of ln best depth in ln rank, mean"
        out.append(mean_of(statement, seen, (-np.inf, 0), HUH))
    start = slope(ds["train_loss"].isel(time=0))
    statement = "start (control): slope of ln best depth in ln rank, mean"
    out.append(mean_of(statement, start, (-0.2, 0.2), "ours"))
    is_grid = ds.sizes["rank"] > 1 and ds.sizes["depth"] > 1
    return [c.given(is_grid, "two ranks and two depths") for c in out]
