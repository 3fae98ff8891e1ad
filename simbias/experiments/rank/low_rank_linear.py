"""Deep linear networks on separable data: every matrix ends with rank 1, aligned.

W_5 ⋯ W_1 x on two separable classes under the logistic loss.  Norms grow without bound,
what is not of the top singular vector stays bounded, so that every matrix tends to one
of rank 1 and the product to the direction of largest margin, from any start that is
left.  Controls: flipped labels, which no hyperplane separates; there nothing grows, and
the rank is what the start makes it.

The flow is θ' = ∇ ln ln(1 + 1/L): the path of the gradient flow on a clock on which
‖θ‖² grows like 2Nt.  Stable ranks come to 1 like 1/t there, and like (ln t)^(−2/N) on
the clock of L.

Reference: Ji & Telgarsky (2019), arXiv:1810.02032; sizes and samples are ours.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.checks.sample import one_of
from simbias.checks.values import positive
from simbias.claims import largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.separable.blobs import blobs
from simbias.experiments._draws import samples
from simbias.experiments.rank._layers import (
    JI,
    Product,
    SquaredNorms,
    StableRanks,
    slow_logistic,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.legends import legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import log_logistic
from simbias.measures.rank.layer_alignment import LayerAlignment
from simbias.measures.risk.margin import Margin
from simbias.measures.risk.train_loss import TrainLoss
from simbias.networks.dense.deep_linear import deep_linear
from simbias.presets import presets
from simbias.stops.margin_above import MarginAbove
from simbias.theory.max_margin import max_margin

AXES = ("points", "scale")
POINTS = ("separable", "flipped")
# What the claims are about: the final time of the smallest preset at least.
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
        points: "separable", or "flipped": every fifth label is wrong, on average.
        scale: of the weights.
        depth: N, number of matrices, 2 or more.
        m: width of the hidden layers.
        n: samples.
        d: inputs.

    Raises:
        ValueError: for a name that is not known, or a number out of range.
    """
    one_of("points", points, POINTS)
    positive("scale", scale)
    one_of("depth", str(depth), [str(k) for k in range(2, 17)])
    key_data, key_network = jax.random.split(key)
    data = blobs(key_data, n=n, d=d, noise=0.2 if points == "flipped" else 0.0)
    widths = (d, *[m] * (depth - 1), 1)
    return data, deep_linear(key_network, widths, law="lecun", scale=scale)


TIMES = (0.0, *(float(f"{t:.3g}") for t in np.geomspace(0.1, 400.0, 60)))

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
            "norm": SquaredNorms(),
            "product": Product(),
            "margin": Margin(),
            "log_loss": TrainLoss(log_logistic),
        },
        # Support vectors are told apart ever faster: the equations become stiff.
        stop=MarginAbove(3e4),
    ),
    smoke={"cell": {"points": "separable"}, "seeds": 2, "times": TIMES[::3]},
    paper={"cell": {"scale": (0.1, 0.2, 0.5, 1.0), "m": 64}, "seeds": 50},
)


def figure(ds: xr.Dataset) -> Figure:
    """Stable rank and alignment of the worst layer, and the norm, by time."""
    ds = with_axes(ds, AXES)
    with style():
        whole = blank(12.0, 4.2)
        ranks, alignment, norms = whole.subplots(1, 3)
        for points in ds["points"].values:
            for i, scale in enumerate(ds["scale"].values):
                part = ds.sel(points=points, scale=scale)
                place = {"colour": COLOURS[i], "label": f"{points}, scale {scale:g}"}
                line = "-" if points == "separable" else "--"
                _draw(ranks, part, part["stable_rank"].max("layer") - 1, line, place)
                gap = 1 - part["alignment"].min("pair")
                _draw(alignment, part, gap, line, place)
                _draw(norms, part, part["norm"].sum("layer"), line, place)
        slope = 2 * ds.sizes["layer"]
        late = ds["time"].values[ds["time"].values > 1]
        norms.plot(late, slope * late, color="black", ls=":", lw=1, label="2Nt")
        law_level(ranks, 0.01)
        ranks.set_title("‖W‖²_F/‖W‖²_op − 1, largest of the layers")
        alignment.set_title("1 − |v_{l+1}·u_l|, largest of the pairs")
        norms.set_title("‖θ‖²")
        for axes in (ranks, alignment, norms):
            axes.set(
                xscale="log", yscale="log", xlabel="time, of θ' = ∇ ln ln(1 + 1/L)"
            )
        legend_below(whole, norms, columns=5)
    return whole


def _draw(
    axes: Axes, part: xr.Dataset, values: xr.DataArray, line: str, place: dict
) -> None:
    seen = part["time"] > 0
    band(axes, part["time"][seen.values], values.isel(time=seen.values), line, **place)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rank one, alignment, largest margin."""
    ds = with_axes(ds, AXES)
    out = []
    for scale in ds["scale"].values:
        for points in ds["points"].values:
            part = ds.sel(points=points, scale=scale)
            kind = _separable if points == "separable" else _flipped
            text = f"{points}, start of scale {scale:g}"
            out += kind(part, text)
    return out


def _separable(part: xr.Dataset, text: str) -> list[Claim]:
    last, scale = part.isel(time=-1), float(part["scale"])
    cosine, margin = largest_margin(part)
    away = 1 - abs(cosine)
    early = ((part["margin"] > 100).cumsum("time") == 1).argmax("time")
    turned = away.isel(time=-1) / away.isel(time=early)
    rank = last["stable_rank"].max("layer")
    out = [
        smallest_of(
            f"{text}: |v·u| of neighbours, smallest",
            last["alignment"],
            (0.99, 1),
            f"{JI}; band ours",
            tolerance=_TOLERANCE,
            most=1,
        ),
        smallest_of(
            f"{text}: cosine with w*, smallest", cosine.isel(time=-1), (0.99, 1), JI
        ),
        smallest_of(
            f"{text}: margin over the largest, smallest", margin, (0.97, 1), JI
        ),
        largest_of(
            f"{text}: 1 − cosine over that at margin 100, largest", turned, (0, 1), JI
        ),
    ]
    if scale <= 0.25:
        text = f"{text}: stable rank, largest of layers"
        out.insert(0, largest_of(text, rank, (1, 1.01), f"{JI}; band ours"))
    else:
        text = f"{text}: (stable rank − 1) over that at margin 100, largest of layers"
        before = part["stable_rank"].isel(time=early).max("layer")
        out.insert(
            0, largest_of(text, (rank - 1) / (before - 1), (0, 0.5), f"{JI}; band ours")
        )
    return out


def _flipped(part: xr.Dataset, text: str) -> list[Claim]:
    last = part.isel(time=-1)
    hidden = last["stable_rank"].isel(layer=slice(0, last.sizes["layer"] - 1))
    text = f"{text} (control): stable rank of hidden layers, smallest"
    return [smallest_of(text, hidden, (1.05, np.inf), "derived; band ours")]


def largest_margin(part: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Cosine of the product with w*, and at the end its margin over the largest."""
    direction = part["product"] / xr.ufuncs.sqrt((part["product"] ** 2).sum("input"))
    u, margin = [], []
    wanted = xr.ones_like(part["status"], dtype=bool)
    for _, _, data in samples(part, experiment("quick"), wanted):
        best = max_margin(data)
        u.append(best.u / np.linalg.norm(best.u))
        margin.append(best.margin)
    oracle = xr.DataArray(np.array(u), dims=("seed", "input"))
    cosine = (direction * oracle).sum("input", skipna=False)
    last = part.isel(time=-1)
    size = xr.ufuncs.sqrt((last["product"] ** 2).sum("input"))
    seen = last["margin"] / size / xr.DataArray(np.array(margin), dims=("seed",))
    return cosine, seen
