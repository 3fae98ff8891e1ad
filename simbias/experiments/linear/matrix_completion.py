"""Matrix completion: what is not seen is filled in by a product, the better the deeper.

Of a matrix of rank 2 a part of the entries is seen, and W_N ⋯ W_1 follows the gradient
of their loss from a small balanced start, without a regulariser.  Two layers find some
of what is not seen, three more.  Controls: one matrix leaves it where it was, and of a
matrix of full rank no depth finds anything.

Reference: Arora, Cohen, Hu & Luo (2019), arXiv:1905.13655; target and start are those
of github.com/roosephu/deep_matrix_factorization, the exact flow is ours.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.values import positive, positive_integer
from simbias.claims import difference_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiments._times import log_times
from simbias.experiments.linear._entries import Factors, half_sum
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.gradient_flow import GradientFlow
from simbias.measures.linear.effective_rank import EffectiveRank
from simbias.measures.linear.unseen_error import UnseenError
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.dense.deep_linear import deep_linear
from simbias.presets import presets
from simbias.stops.train_risk_below import TrainRiskBelow

PAPER = "Arora et al. (2019), arXiv:1905.13655 (?)"
OURS = "ours"
# What the claims are about: from here on all that is seen is fitted.
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
        key: of the target, of the entries that are seen and of the start.
        depth: factors.
        size: rows and columns, two or more.
        rank: of the target UVᵀ, U and V Gaussian, of mean square 1 per entry.
        seen: entries that are, chosen uniformly; about as many per degree of freedom
            of the target, rank (2 size − rank), as were published: 2.
        scale: root mean square of the entries of the first product, whose factors are
            orthogonal times one number.

    Raises:
        ValueError: for a number out of range: a rank above the size, or nothing that
            is not seen.
    """
    for name, value in (("depth", depth), ("size", size), ("rank", rank)):
        positive_integer(name, value)
    positive_integer("seen", seen)
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
        "cell": {
            "depth": (1, 2, 3, 4),
            "size": 100,
            "rank": (5, 100),
            "seen": 2000,
        },
        "seeds": 50,
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Error of what is not seen and of what is, and the effective rank, by time."""
    shown = ds["rank"].values.min()
    with style():
        whole = blank(12.6, 3.9)
        unseen, seen, rank = whole.subplots(1, 3)
        ranks, depths = (ds[axis].values.tolist() for axis in ("rank", "depth"))
        cells = [(p, n) for p in ranks for n in depths]
        for p, n in cells:
            part, colour = ds.sel(rank=p, depth=n), COLOURS[depths.index(n)]
            line = "-" if p == shown else ":"
            drawn = [(unseen, part["unseen_error"])]
            if p == shown:
                drawn.append((seen, part["train_risk"] ** 0.5))
                drawn.append((rank, part["effective_rank"]))
            for axes, values in drawn:
                text = f"rank {p}, N = {n}"
                band(axes, part["time"], values, line, colour=colour, label=text)
        law_level(seen, FITTED**0.5)
        unseen.set_title("entries not seen: error over their size")
        seen.set_title("entries seen: error; dotted: rest")
        rank.set_title("effective rank")
        for axes in (unseen, seen, rank):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(0.1, float(ds["time"][-1]))
            axes.set_xlabel("time")
        unseen.legend(loc="lower left")
        seen.legend(loc="upper right")
        rank.legend(loc="center right", bbox_to_anchor=(1.0, 0.63))
        rank.set_yticks([1, 2, 4, 10, 20], ["1", "2", "4", "10", "20"])
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Layers learn of the rest if the rank is low, three of them more than two."""
    ds = with_axes(ds, AXES)
    out, low = [], _low(ds)
    for rank in ds["rank"].values.tolist():
        depths = ds["depth"].values.tolist()
        ends = {n: ds.sel(rank=rank, depth=n).isel(time=-1) for n in depths}
        # One matrix moves no entry that is not seen: the gradient there is 0.
        for n in (n for n in ends if n > 1):
            out.append(_of_one(ends[n], f"rank {rank}, N = {n}", rank == low))
        if rank == low:
            for n in (n for n in ends if n > 2 and n - 1 in ends):
                out += _deeper(ends[n - 1], ends[n], f"N = {n - 1} less N = {n}")
    return out


def _of_one(end: xr.Dataset, name: str, is_low: bool) -> Claim:
    """What is not seen is found by layers, if the rank is low."""
    text = "error of the entries not seen over their size, median"
    if is_low:
        source = f"{PAPER}; the band is ours"
        return median_of(f"{name}: {text}", end["unseen_error"], (0, 0.5), source)
    name = f"{name} (control)"
    return median_of(f"{name}: {text}", end["unseen_error"], (0.9, np.inf), OURS)


def _deeper(before: xr.Dataset, after: xr.Dataset, name: str) -> list[Claim]:
    """Of the same target and entries, in pairs."""
    logs = [np.log10(end["unseen_error"]) for end in (before, after)]
    ranks = [end["effective_rank"] for end in (before, after)]
    text = f"lg error of the entries not seen, {name}, mean"
    return [
        difference_of(text, logs[0], logs[1], (0, np.inf), PAPER),
        difference_of(
            f"effective rank, {name}, mean", ranks[0], ranks[1], (0, np.inf), PAPER
        ),
    ]


def _low(ds: xr.Dataset) -> int:
    """The rank that is low: the least of them, if it is below half the size."""
    size = int(ds["size"])
    least = int(ds["rank"].values.min())
    return least if 2 * least < size else 0
