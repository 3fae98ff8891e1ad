"""Deep linear networks on separable data: every matrix aligns and ends with rank 1.

The network is W_5 ⋯ W_1 x on two separable classes under the logistic loss.  The norm
of every matrix grows without bound, while all but its largest singular value stay
bounded.  So every matrix tends to rank 1, and the product to the direction of largest
margin, from any initialisation that does not converge to a saddle.  In the control some
labels are flipped, so that no hyperplane separates the classes.  Then nothing grows,
and the rank depends on the initialisation.

The flow is θ' = ∇ ln ln(1 + 1/L).  Its path is that of the gradient flow, and in its
time ‖θ‖² grows like 2Nt.  Stable ranks tend to 1 like 1/t in this time, and like (ln
t)^(−2/N) in the time of the flow of L.

Reference: Ji & Telgarsky (2019), arXiv:1810.02032; sizes and samples are ours.
"""

import functools
import itertools

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import blobs
from simbias.experiment_presets import presets
from simbias.experiments._draws import samples
from simbias.experiments._slow_losses import slow_logistic
from simbias.experiments._times import log_times
from simbias.experiments.rank._layers import CLOCK, JI
from simbias.figures import Curves, Law, Panels
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import log_logistic
from simbias.measures import (
    LayerAlignment,
    LayerNorms,
    Margin,
    ProductRow,
    StableRanks,
    TrainLoss,
)
from simbias.networks import deep_linear
from simbias.stops import MarginAbove
from simbias.theory.max_margin import max_margin
from simbias.validation.sample import one_of
from simbias.validation.values import positive

AXES = ("points", "scale")
POINTS = ("separable", "flipped")
LEAST_TIME = 400.0
_TOLERANCE = 1e-6


def make(
    key: PRNGKeyArray,
    *,
    points: str = "separable",
    scale: Real = 0.2,
    depth: int = 5,
    m: int = 16,
    n: int = 40,
    d: int = 5,
) -> tuple[Dataset, AbstractNetwork]:
    """Two balls, and a network of `depth` matrices N(0, scale²/inputs).

    Args:
        key: random key.
        points: "separable", or "flipped", where on average every fifth label is wrong.
        scale: scale of the initial weights.
        depth: N, number of matrices, 2 or more.
        m: width of the hidden layers.
        n: training samples.
        d: inputs.
    """
    one_of("points", points, POINTS)
    positive("scale", scale)
    one_of("depth", str(depth), [str(k) for k in range(2, 17)])
    key_data, key_network = jax.random.split(key)
    data = blobs(key_data, n=n, d=d, noise=0.2 if points == "flipped" else 0.0)
    widths = (d, *[m] * (depth - 1), 1)
    return data, deep_linear(key_network, widths, law="lecun", scale=scale)


TIMES = log_times(0.1, 400.0, 60, digits=3)

experiment = presets(
    Experiment(
        name="low_rank_linear",
        make=make,
        cell={"points": POINTS, "scale": (0.2, 1.0)},
        seeds=20,
        flow=GradientFlow(PRECISE, rtol=1e-8),
        loss=slow_logistic,
        times=TIMES,
        measures={
            "stable_rank": StableRanks(),
            "alignment": LayerAlignment(),
            "norm": LayerNorms(),
            "product": ProductRow(),
            "margin": Margin(),
            "log_loss": TrainLoss(log_logistic),
        },
        # Support vectors are separated ever faster: the equations become stiff.
        stop=MarginAbove(3e4),
    ),
    smoke={"cell": {"points": "separable"}, "seeds": 2, "times": TIMES[::3]},
    paper={"cell": {"scale": (0.1, 0.2, 0.5, 1.0), "m": 64}, "seeds": 50},
)


def growth(part: xr.Dataset) -> xr.DataArray:
    """‖θ‖² = 2Nt, once margins are large."""
    return 2 * part.sizes["layer"] * part["time"].where(part["time"] > 1)


by_time = functools.partial(Curves, colour="scale", line="points", yscale="log")
figure = Panels(
    by_time(
        lambda part: part["stable_rank"].max("layer") - 1,
        title="‖W‖²_F/‖W‖²_op − 1, largest of the layers",
        laws=(Law(0.01),),
    ),
    by_time(
        lambda part: 1 - part["alignment"].min("pair"),
        title="1 − |v_{l+1}·u_l|, largest of the pairs",
    ),
    by_time(
        lambda part: part["norm"].sum("layer"),
        title="‖θ‖²",
        laws=(Law(growth, "2Nt", line=":"),),
    ),
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel=CLOCK,
    xscale="log",
    legend=5,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rank one, alignment, largest margin."""
    out = []
    for scale, points in itertools.product(ds["scale"].values, ds["points"].values):
        part = ds.sel(points=points, scale=scale)
        where = f"{points}, start of scale {scale:g}"
        if points == "separable":
            out += Claims(where=where).rows(*_separable(part))
        else:
            out += Claims(where=f"{where} (control)").rows(*_flipped(part))
    return out


def _separable(part: xr.Dataset) -> list[Claim]:
    last, (cosine, margin) = part.isel(time=-1), largest_margin(part)
    away, end = 1 - abs(cosine), cosine.isel(time=-1)
    early = ((part["margin"] > 100).cumsum("time") == 1).argmax("time")
    rank, source = last["stable_rank"].max("layer"), f"{JI}; band ours"
    if part["scale"] <= 0.25:
        of_rank = largest_of("stable rank, largest of layers", rank, (1, 1.01), source)
    else:
        text = "(stable rank − 1) over that at margin 100, largest of layers"
        before = part["stable_rank"].isel(time=early).max("layer")
        of_rank = largest_of(text, (rank - 1) / (before - 1), (0, 0.5), source)
    text, aligned = "|v·u| of neighbours, smallest", last["alignment"]
    later = away.isel(time=-1) / away.isel(time=early)
    exact = {"tolerance": _TOLERANCE, "most": 1}
    return [
        of_rank,
        smallest_of(text, aligned, (0.99, 1), source, **exact),
        smallest_of("cosine with w*, smallest", end, (0.99, 1), JI),
        smallest_of("margin over the largest, smallest", margin, (0.97, 1), JI),
        largest_of("1 − cosine over that at margin 100, largest", later, (0, 1), JI),
    ]


def _flipped(part: xr.Dataset) -> list[Claim]:
    hidden = part["stable_rank"].isel(time=-1, layer=slice(0, -1))
    text, source = "stable rank of hidden layers, smallest", "derived; band ours"
    return [smallest_of(text, hidden, (1.05, np.inf), source)]


def largest_margin(part: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Cosine of the product with w*, and at the end its margin over the largest."""
    every = xr.ones_like(part["status"], dtype=bool)
    drawn = samples(part, experiment("quick"), every)
    best = [max_margin(data) for _, _, data in drawn]
    oracle = np.array([one.u / np.linalg.norm(one.u) for one in best])
    size = xr.ufuncs.sqrt((part["product"] ** 2).sum("input"))
    direction = part["product"] / size
    along = direction * xr.DataArray(oracle, dims=("seed", "input"))
    cosine = along.sum("input", skipna=False)
    margins = xr.DataArray(np.array([one.margin for one in best]), dims="seed")
    return cosine, (part["margin"] / size / margins).isel(time=-1)
