"""Fewer samples than inputs: deeper linear networks find maps of lower rank.

Products of 1 to 4 matrices learn y = Wx from half as many samples as inputs, by
gradient descent and by Adam.  W has rank 1, or full rank in the control.  The deeper
the network, the lower the effective rank of the product.  The gain in test error is
bounded.  For an isotropic W, the part of W outside the span of the samples is symmetric
about 0, for any training data.  So on average over such W no method has a smaller error
than the solution of least norm.

Reference: Huh et al. (2023), arXiv:2103.10427, section 4, on least squares; sizes,
rates and the bound are ours.
"""

import functools

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, largest_of, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.experiment_presets import presets
from simbias.experiments._times import after_steps
from simbias.experiments.rank._depth import HUH
from simbias.experiments.rank._matrices import too_few_samples
from simbias.experiments.rank._stack import chain
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import EffectiveRank, MapErrors

AXES = ("scale", "rank", "flow.optimiser", "depth")
RATE = 3e-3
# Rate of plain descent.  A factor of the loss does not change the steps of Adam, and
# those of plain descent are proportional to it.  So one rate is enough for both.
DESCENT = 0.02
_NAMES = {"gd": "GD", "adam": "Adam"}


def magnified_half_mse(
    prediction: Float[Array, "n k"], target: Float[Array, "n k"], weight: Array
) -> Float[Array, ""]:
    """DESCENT/RATE times half of the mean squared error."""
    return DESCENT / RATE * half_mse(prediction, target, weight)


def make(
    key: PRNGKeyArray,
    *,
    scale: Real = 1.0,
    rank: Index = 1,
    depth: Index = 2,
    most: int = 4,
    m: int = 16,
    n: int = 8,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample of a map m × m of given rank, and a chain of `depth` matrices.

    Args:
        key: random key.
        scale: scale of the initial weights, N(0, scale²/m).
        rank: rank of the map, 1 to m.
        depth: number of matrices, 1 to `most`.
        most: the largest depth; as many matrices are drawn.
        m: inputs and outputs.
        n: training samples, fewer than m.
    """
    key_data, key_start = jax.random.split(key)
    data = too_few_samples(key_data, n=n, m=m, rank=rank)
    return data, chain(key_start, depth=depth, most=most, m=m, scale=scale)


experiment = presets(
    Experiment(
        name="low_rank_regression",
        make=make,
        cell={
            "scale": (0.3, 1.0),
            "rank": (1, 16),
            "flow.optimiser": ("gd", "adam"),
            "depth": (1, 2, 3, 4),
        },
        seeds=20,
        shared=("scale", "rank", "depth"),
        flow=Descent(rate=RATE, optimiser="adam", is_shared=True),
        loss=magnified_half_mse,
        times=after_steps(RATE, 0, 750, 1500, 3000),
        measures={"map_rank": EffectiveRank(is_log=True), "errors": MapErrors()},
    ),
    smoke={
        "cell": {
            "scale": 0.3,
            "rank": (1, 6),
            "depth": (1, 3),
            "most": 3,
            "m": 6,
            "n": 3,
        },
        "seeds": 6,
        "times": after_steps(RATE, 0, 250, 500, 1000),
    },
    paper={
        "cell": {"rank": (1, 64), "depth": (1, 2, 4, 8), "most": 8, "m": 64, "n": 32},
        "seeds": 100,
        "times": after_steps(RATE, 0, 5000, 10_000, 20_000),
    },
)


by_depth = functools.partial(
    Curves, colour="rank", line="flow.optimiser", mark="o", ticks=True, ylim=(0, None)
)
figure = Panels(
    by_depth("map_rank", title="−Σ p ln p of the product"),
    by_depth(
        lambda part: part["errors"].sel(part="test"),
        title="‖Ŵ − W‖²/‖W‖²",
        laws=(
            Law(
                lambda part: part["errors"].sel(part="unseen").median(),
                "solution of least norm, median",
            ),
        ),
    ),
    rows="scale",
    of=lambda ds: ds.isel(time=-1),
    x="depth",
    xlabel="matrices",
    names={"flow.optimiser": _NAMES},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rank and test error against depth, for low rank against full rank."""
    ds = ds.isel(time=-1)
    out = []
    for start in ds["scale"].values:
        for kind in ds["flow.optimiser"].values:
            part = ds.sel({"scale": start, "flow.optimiser": kind})
            where = f"{_NAMES[str(kind)]}, start of scale {start:g}"
            fitted = part["errors"].sel(part="on span").median("seed", skipna=False)
            text = f"{where}: ‖(Ŵ − W)P‖²/‖W‖², largest of medians"
            out.append(largest_of(text, fitted, (0, 0.01), "ours: it learns"))
            out += of_depth(where, part)
    is_grid = ds.sizes["rank"] > 1 and ds.sizes["depth"] > 1
    return Claims(needs={"two ranks and two depths": is_grid}).rows(*out)


def of_depth(where: str, ds: xr.Dataset) -> list[Claim]:
    """Claims on slopes in ln depth, over `rank`, `depth` and `seed`."""
    low, full = (ds.isel(rank=i) for i in (0, -1))
    rank, full_rank = (slope_in_log(v["map_rank"], "depth") for v in (low, full))
    test, full_test = (
        slope_in_log(v["errors"].sel(part="test"), "depth") for v in (low, full)
    )
    name, below = f"rank {int(low['rank'])}", (-np.inf, 0)
    less = f"{name} less that of full rank (control), mean"
    falls = f"{where}, {name}: slope of −Σ p ln p in ln depth, mean"
    better = f"{where}, {name}: slope of the test error in ln depth, mean"
    return [
        mean_of(falls, rank, below, HUH),
        mean_of(f"{where}: that of {less}", rank - full_rank, below, "ours"),
        mean_of(better, test, below, HUH),
        mean_of(f"{where}: test error, slope of {less}", test - full_test, below, HUH),
    ]
