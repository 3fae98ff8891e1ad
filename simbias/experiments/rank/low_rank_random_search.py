"""Low rank without gradients: the best of many random deep linear networks.

A linear map is known on fewer samples than it has inputs.  Of 20,000 random chains of
matrices we take the one that fits these samples best.  The deeper the chains, the lower
the effective rank of this best one.  Chains that are not selected have the same
dependence on depth (control).  So the bias comes from the law of a product of matrices,
and gradient descent from a random initialisation has it too.

Reference: Huh et al. (2023), arXiv:2103.10427, section 4 on what is not due to gradient
descent; sizes are ours, small enough that some of the chains fit.
"""

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, mean_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.experiment_presets import presets
from simbias.experiments.rank._depth import HUH
from simbias.experiments.rank._matrices import too_few_samples
from simbias.experiments.rank._stack import Stack, chain
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import EffectiveRank, MapErrors
from simbias.validation.values import positive_integer

AXES = ("rank", "tries", "depth")
RATE = 0.02
# Tries in memory at once.
_AT_ONCE = 250
# Share of ‖W‖² below which a map counts as fitted on the samples.
LEVEL = 0.2


class _Best(NamedTuple):
    network: Stack
    error: Float[Array, ""]


def make(
    key: PRNGKeyArray,
    *,
    rank: Index = 1,
    tries: int = 20_000,
    depth: Index = 2,
    most: int = 4,
    m: int = 4,
    n: int = 2,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample of a map m × m of given rank, and the best of `tries` chains.

    Args:
        key: random key.
        rank: rank of the map, 1 to m.
        tries: number of random chains, N(0, 1/m); 1 is a random initialisation.
        depth: number of matrices of a chain, 1 to `most`.
        most: the largest depth; as many matrices are drawn.
        m: inputs and outputs.
        n: training samples, fewer than m.
    """
    positive_integer("tries", tries)
    key_data, key_start = jax.random.split(key)
    data = too_few_samples(key_data, n=n, m=m, rank=rank)

    def tried(number: Array) -> _Best:
        of_try = jax.random.fold_in(key_start, number)
        network = chain(of_try, depth=depth, most=most, m=m)
        return _Best(network, jnp.sum((jax.vmap(network)(data.x) - data.y) ** 2))

    def better(best: _Best, numbers: Array) -> tuple[_Best, None]:
        some = jax.vmap(tried)(numbers)
        index = jnp.argmin(some.error)
        found = jax.tree.map(lambda v: v[index], some)
        is_better = found.error < best.error
        return jax.tree.map(lambda a, b: jnp.where(is_better, a, b), found, best), None

    numbers = jnp.arange(tries, dtype=jnp.uint32).reshape(-1, math.gcd(tries, _AT_ONCE))
    # Without values: a second draw would be compiled once more.
    like = jax.eval_shape(tried, numbers[0, 0]).network
    nothing = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), like)
    start = _Best(nothing, jnp.asarray(jnp.inf, jnp.float64))
    return data, jax.lax.scan(better, start, numbers)[0].network


experiment = presets(
    Experiment(
        name="low_rank_random_search",
        make=make,
        cell={"rank": (1, 4), "tries": (1, 20_000), "depth": (1, 2, 3, 4)},
        seeds=40,
        shared=("rank", "tries", "depth"),
        flow=Descent(rate=RATE),
        loss=half_mse,
        times=(0.0, RATE * 3000),
        measures={"map_rank": EffectiveRank(is_log=True), "errors": MapErrors()},
    ),
    smoke={
        "cell": {
            "rank": 1,
            "tries": (1, 250),
            "depth": (1, 2),
            "most": 2,
            "m": 3,
            "n": 1,
        },
        "seeds": 6,
        "times": (0.0, RATE * 300),
    },
    paper={"cell": {"rank": (1, 5), "tries": (1, 10_000_000), "m": 5}, "seeds": 100},
)


def ways(ds: xr.Dataset) -> xr.Dataset:
    """Chains drawn, found by search and trained by descent, over `way`."""
    drawn, found = (
        ds[["map_rank", "errors"]].isel(tries=i, drop=True) for i in (0, -1)
    )
    three = [drawn.isel(time=0), found.isel(time=0), drawn.isel(time=-1)]
    names = xr.DataArray(["drawn", "random search", "GD"], dims="way", name="way")
    return xr.concat([part.drop_vars("time") for part in three], names)


by_depth = functools.partial(Curves, colour="way", mark="o", ticks=True)
figure = Panels(
    by_depth("map_rank", title="−Σ p ln p", ylim=(0, None)),
    by_depth(
        lambda part: part["errors"].sel(part="test"),
        title="‖Ŵ − W‖²/‖W‖²",
        yscale="log",
        yticks=(0.3, 1, 3, 10),
    ),
    by_depth(
        lambda part: part["errors"].sel(part="on span"),
        title="‖(Ŵ − W)P‖²/‖W‖²",
        yscale="log",
        # The error of descent is far below the axis.
        ylim=(1e-3, None),
    ),
    rows="rank",
    of=ways,
    x="depth",
    xlabel="matrices",
    names={"rank": {k: f"W of rank {k}" for k in range(1, 9)}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Slopes of the effective rank in ln depth, by way and by rank of the map."""
    out = []
    for rank in ds["rank"].values:
        seen, name = ways(ds).sel(rank=rank), f"W of rank {rank:d}"
        slope = slope_in_log(seen["map_rank"], "depth")
        for way in ("random search", "GD"):
            text = f"{name}, {way}: slope of −Σ p ln p in ln depth, mean"
            out.append(mean_of(text, slope.sel(way=way), (-np.inf, 0), HUH))
        text = f"{name}, random search: that slope less that of chains drawn (control)"
        gap = slope.sel(way="random search") - slope.sel(way="drawn")
        out.append(mean_of(text, gap, (-0.1, 0.1), "ours"))
        for way in ("random search", "GD"):
            errors = seen["errors"].sel(way=way)
            fitted = errors.sel(part="on span").mean("depth", skipna=False)
            text = f"{name}, {way}: ‖(Ŵ − W)P‖²/‖W‖², median"
            source = "ours: the samples are fitted"
            out.append(median_of(text, fitted, (0, LEVEL), source))
            test = slope_in_log(errors.sel(part="test"), "depth")
            text = f"{name}, {way}: slope of the test error in ln depth, mean"
            band = (-np.inf, 0) if rank < int(ds["m"]) else (0, np.inf)
            out.append(mean_of(text, test, band, HUH))
    is_grid = ds.sizes["tries"] > 1 and ds.sizes["depth"] > 1
    return Claims(needs={"two numbers of tries and two depths": is_grid}).rows(*out)
