"""Matrix completion: deeper products fill in the unobserved entries better.

Some entries of a matrix of rank 2 are observed.  W_N ⋯ W_1 follows the gradient of the
loss on these entries from a small balanced initialisation, without a regulariser.  Two
layers recover the other entries in part, three layers better.  Controls: one matrix
leaves them as they are, and for a matrix of full rank no depth recovers them.

Reference: Arora, Cohen, Hu & Luo (2019), arXiv:1905.13655; target and start are those
of github.com/roosephu/deep_matrix_factorization, the exact flow is ours.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import difference_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.linear._entries import Factors, half_sum
from simbias.figures import Curves, Law, Panels
from simbias.flows import GradientFlow
from simbias.measures import EffectiveRank, TrainRisk, UnseenError
from simbias.networks import deep_linear
from simbias.stops import TrainRiskBelow
from simbias.validation.values import positive, positive_integers

PAPER = "Arora et al. (2019), arXiv:1905.13655 (?)"
# Claims are about the time from which all observed entries are fitted.
LEAST_TIME = 1e3
AXES = ("rank", "depth")
# (1/n) Σ (f − y)² at which the published runs end.
FITTED = 1e-6


def make(
    key: PRNGKeyArray,
    *,
    depth: int = 2,
    size: int = 30,
    rank: int = 2,
    seen: int = 240,
    scale: Real = 1e-3,
) -> tuple[Dataset, AbstractNetwork]:
    """A square matrix of low rank, some of its entries, and `depth` square factors.

    Args:
        key: random key of the target, the observed entries and the initial weights.
        depth: number of factors.
        size: rows and columns, two or more.
        rank: rank of the target UVᵀ, with Gaussian U and V and mean square 1 per entry.
        seen: number of observed entries, chosen uniformly.  The default is about 2 per
            degree of freedom of the target, rank (2 size − rank), as published.
        scale: root mean square of the entries of the initial product, whose factors are
            orthogonal matrices times one number.

    Raises:
        ValueError: for a number out of range: a rank above the size, or no unobserved
            entry.
    """
    positive_integers(depth=depth, size=size, rank=rank, seen=seen)
    positive("scale", scale)
    if size < 2:
        raise BadInput(
            f"`size` must be 2 or more, got {size}: of a single entry none is seen, or "
            "none is not. Example: size=30."
        )
    if rank > size:
        raise BadInput(
            f"`rank` must be at most size={size}, got {rank}. Example: rank=2."
        )
    if seen >= size**2:
        raise BadInput(
            f"`seen` must leave entries that are not, of {size**2}, got {seen}. "
            f"Example: seen={size**2 // 4}."
        )
    key_left, key_right, key_seen, key_start = jax.random.split(key, 4)
    left = jax.random.normal(key_left, (size, rank), jnp.float64)
    right = jax.random.normal(key_right, (size, rank), jnp.float64)
    target = left @ right.T
    target = target * size / jnp.linalg.norm(target)
    order = jax.random.permutation(key_seen, size**2)
    factor = (jnp.asarray(scale, jnp.float64) * size**0.5) ** (1 / depth)
    widths = (size,) * (depth + 1)
    net = deep_linear(key_start, widths, law="orthogonal", scale=1.0)
    network = Factors(tuple(factor * w for w in net.weights))
    hidden = _entries(target, order[seen:])
    shown = _entries(target, order[:seen])
    data = Dataset(shown.x, shown.y, shown.weight, shown.y, jnp.eye(2), hidden)
    return data, network


def _entries(matrix: Float[Array, "p p"], places: Array) -> Dataset:
    rows, columns = jnp.divmod(places, matrix.shape[1])
    x = jnp.stack([rows, columns], axis=1).astype(jnp.float64)
    y = matrix[rows, columns][:, None]
    return Dataset(x, y, jnp.ones(len(places)), y, jnp.eye(2))


experiment = presets(
    Experiment(
        name="matrix_completion",
        make=make,
        cell={"rank": (2, 30), "depth": (1, 2, 3)},
        seeds=20,
        shared=("rank", "depth"),
        flow=GradientFlow(),
        loss=half_sum,
        times=log_times(0.1, 1e3, 61),
        measures={
            "unseen_error": UnseenError(),
            "effective_rank": EffectiveRank(),
            "train_risk": TrainRisk(),
        },
        stop=TrainRiskBelow(FITTED),
    ),
    smoke={
        "cell": {"rank": 1, "depth": (2, 3), "size": 12, "seen": 48},
        "seeds": 3,
        "times": log_times(0.1, 1e3, 31),
    },
    paper={
        "cell": {"depth": (1, 2, 3, 4), "size": 100, "rank": (5, 100), "seen": 2000},
        "seeds": 50,
    },
)


def _of_low(values: xr.DataArray) -> xr.DataArray:
    return values.where(values["rank"] == values["rank"].min())


_curves = functools.partial(Curves, colour="depth", line="rank", yscale="log")
figure = Panels(
    _curves("unseen_error", title="unobserved entries: error over their size"),
    _curves(
        lambda ds: _of_low(ds["train_risk"]) ** 0.5,
        title="entries seen: error; dotted: rest",
        laws=(Law(FITTED**0.5, line=":", colour="black"),),
    ),
    _curves(
        lambda ds: _of_low(ds["effective_rank"]),
        title="effective rank",
        yticks=(1, 2, 4, 10, 20),
    ),
    xscale="log",
    names={"depth": "N"},
    legend=6,
    of=lambda ds: ds.sel(time=slice(0.1, None)),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Layers recover the other entries if the rank is low, three better than two."""
    rows, end = [], ds.isel(time=-1)
    ranks, depths = (ds[k].values.tolist() for k in ("rank", "depth"))
    text = "error of the unobserved entries over their size, median"
    for rank in ranks:
        is_low = rank == min(ranks) and 2 * rank < int(ds["size"])
        # One matrix leaves the other entries as they are: the gradient there is 0.
        for depth in [depth for depth in depths if depth > 1]:
            error = end["unseen_error"].sel(rank=rank, depth=depth)
            name = f"rank {rank}, N = {depth}"
            if is_low:
                source = f"{PAPER}; the band is ours"
                rows.append(median_of(f"{name}: {text}", error, (0, 0.5), source))
            else:
                name, source = f"{name} (control)", "ours"
                rows.append(median_of(f"{name}: {text}", error, (0.9, np.inf), source))
        if is_low:
            part = end.sel(rank=rank)
            for depth in [depth for depth in depths if depth > 2]:
                rows += _deeper(at(part, "depth", depth - 1), part.sel(depth=depth))
    return rows


def _deeper(before: xr.Dataset, after: xr.Dataset) -> list[Claim]:
    """Pairs of depths on the same target and entries."""
    name = f"N = {int(before['depth'])} less N = {int(after['depth'])}"
    errors = [xr.ufuncs.log10(end["unseen_error"]) for end in (before, after)]
    ranks = [end["effective_rank"] for end in (before, after)]
    text = f"lg error of the unobserved entries, {name}, mean"
    band = (0, np.inf)
    return [
        difference_of(text, errors[0], errors[1], band, PAPER),
        difference_of(f"effective rank, {name}, mean", ranks[0], ranks[1], band, PAPER),
    ]
