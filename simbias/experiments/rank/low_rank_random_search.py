"""Low rank without gradients: the best of many deep linear networks drawn at random.

Of 20,000 chains of matrices the one is taken that fits best the samples of a linear
map, fewer than its inputs.  The deeper the chains, the lower the effective rank of what
is found, and as much lower that of chains drawn at random (control): the bias is in the
law of a product of matrices, and descent from a random start shares it.

Reference: Huh et al. (2023), arXiv:2103.10427, section 4 on what is not due to gradient
descent; sizes are ours, small enough that some of the chains fit.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.values import positive_integer
from simbias.claims import mean_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index
from simbias.experiments.rank._maps import MapErrors, MapRank, chain
from simbias.experiments.rank._matrices import too_few_samples
from simbias.experiments.rank._stack import Stack
from simbias.experiments.rank.low_rank_embeddings import HUH, slope_in_log
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.presets import presets

AXES = ("rank", "tries", "depth")
RATE = 0.02
# Tries that are held at once.
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
    """A sample of a map m × m of a rank, and the best of `tries` chains.

    Args:
        key: of the map, of the sample and of the search.
        rank: of the map, 1 to m.
        tries: chains that are drawn, N(0, 1/m); 1 is a random start.
        depth: number of matrices of a chain, 1 to `most`.
        most: matrices that are drawn for it, the largest depth.
        m: inputs and outputs.
        n: samples, fewer than m.

    Raises:
        ValueError: for a size or number out of range.
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
        measures={"map_rank": MapRank(), "errors": MapErrors()},
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
    paper={
        "cell": {"rank": (1, 5), "tries": (1, 10_000_000), "m": 5},
        "seeds": 100,
    },
)


def ways(ds: xr.Dataset) -> dict[str, xr.Dataset]:
    """Chains drawn, found by search and trained by descent, by name."""
    drawn, found = (ds.isel(tries=i) for i in (0, -1))
    return {
        "drawn": drawn.isel(time=0),
        "random search": found.isel(time=0),
        "GD": drawn.isel(time=-1),
    }


def figure(ds: xr.Dataset) -> Figure:
    """Effective rank and test error by depth, and how well the samples are fitted."""
    ds = with_axes(ds, AXES)
    with style():
        ranks = ds["rank"].values
        whole = blank(13.0, 3.6 * len(ranks))
        rows = whole.subplots(len(ranks), 3, squeeze=False, sharex=True)
        for panels, rank in zip(rows, ranks, strict=True):
            seen = ways(ds.sel(rank=rank)).items()
            for (name, part), colour in zip(seen, COLOURS, strict=False):
                errors = part["errors"]
                values = (
                    part["map_rank"],
                    errors.sel(part="test"),
                    errors.sel(part="on span"),
                )
                for axes, value in zip(panels, values, strict=True):
                    mark = {"colour": colour, "label": name, "ms": 4, "alpha": 0.15}
                    band(axes, ds["depth"], value, "o-", **mark)
            titles = "−Σ p ln p", "‖Ŵ − W‖²/‖W‖²", "‖(Ŵ − W)P‖²/‖W‖²"
            for axes, title in zip(panels, titles, strict=True):
                axes.set(xlabel="matrices", title=f"{title}, W of rank {rank:d}")
                axes.set_xticks(ds["depth"].values)
            panels[0].set_ylim(0, None)
            panels[1].set(yscale="log")
            panels[1].set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
            panels[1].minorticks_off()
            # What descent leaves is far below, and of no interest.
            panels[2].set(yscale="log", ylim=(1e-3, None))
        rows[0, 0].legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Slopes of the effective rank in ln depth, by way and by rank of the map."""
    ds = with_axes(ds, AXES)
    out = []
    for rank in ds["rank"].values:
        seen = ways(ds.sel(rank=rank))
        slopes = {k: slope_in_log(v["map_rank"], "depth") for k, v in seen.items()}
        name = f"W of rank {rank:d}"
        for way in ("random search", "GD"):
            text = f"{name}, {way}: slope of −Σ p ln p in ln depth, mean"
            out.append(mean_of(text, slopes[way], (-np.inf, 0), HUH))
        gap = slopes["random search"] - slopes["drawn"]
        text = f"{name}, random search: that slope less that of chains drawn (control)"
        out.append(mean_of(text, gap, (-0.1, 0.1), "ours"))
        for way in ("random search", "GD"):
            errors = seen[way]["errors"]
            fitted = errors.sel(part="on span").mean("depth", skipna=False)
            text = f"{name}, {way}: ‖(Ŵ − W)P‖²/‖W‖², median"
            out.append(
                median_of(text, fitted, (0, LEVEL), "ours: the samples are fitted")
            )
            test = slope_in_log(errors.sel(part="test"), "depth")
            text = f"{name}, {way}: slope of the test error in ln depth, mean"
            low, high = (-np.inf, 0) if rank < int(ds["m"]) else (0, np.inf)
            out.append(mean_of(text, test, (low, high), HUH))
    is_grid = ds.sizes["tries"] > 1 and ds.sizes["depth"] > 1
    return [c.given(is_grid, "two numbers of tries and two depths") for c in out]
