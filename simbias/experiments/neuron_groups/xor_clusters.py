"""Wide networks on XOR-like clusters become networks of four neurons.

ReLU neurons from a small unbalanced initialisation gather in four directions and stay
there: two directions for each class, orthogonal to the clusters of the other class.
From then on the network, of any width, computes the function of a network with four
neurons.

The published code has 4096 neurons and runs gradient descent with learning rate 2⁻⁴ for
8192 epochs (here `published_descent`), which is time 512.  The default here is the
gradient flow.

Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, figure 2 and section 5.
"""

import math

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import farthest_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.separable.xor_clusters import SIGMA, xor_clusters
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.neuron_groups._on_their_own import embedded
from simbias.figures import Curves, Panels, Points, VerticalLaw
from simbias.flows import Descent, ReluFlow
from simbias.losses import logistic
from simbias.measures import (
    AngularDeviation,
    DirectionGroups,
    EmbeddingDistance,
    NeuronWeights,
    TrainLoss,
)
from simbias.networks import standard
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.extremal_vectors import extremal_vectors

PAPER = "Tsoy & Konstantinov (2024), arXiv:2405.17299"
LEAST_TIME = 512.0
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
RATE, FINAL_TIME = 2.0**-4, 512.0
# From this time on the neurons have gathered; the loss starts to fall at about 30.
CONDENSED = 60.0


def published_descent() -> Descent:
    """Gradient descent as the published code runs it."""
    return Descent(rate=RATE)


def make(
    key: PRNGKeyArray,
    *,
    angle: Real = math.pi / 2,
    m: int = 4096,
    n: int = 512,
    sigma: Real = SIGMA,
    clip: Real = 0.2,
    scale: Real = 2.0**-7,
) -> tuple[Dataset, AbstractNetwork]:
    """Clusters on two lines, and torch's default network times `scale`.

    Args:
        key: random key.
        angle: angle between the two lines, in radians.
        m: width: neurons of a hidden layer.
        n: samples to train on.
        sigma: standard deviation of a cluster.
        clip: largest |z| of a cluster.
        scale: factor on torch's default initialisation.
    """
    key_data, key_network = jax.random.split(key)
    data = xor_clusters(key_data, n=n, angle=angle, sigma=sigma, clip=clip)
    return data, standard(key_network, m=m, d=2, scale=scale)


AXES = ("angle",)
experiment = presets(
    Experiment(
        name="xor_clusters",
        make=make,
        cell={"angle": (math.pi / 2, math.pi / 3), "m": 1024},
        seeds=3,
        flow=ReluFlow(rtol=1e-5),
        loss=logistic,
        times=log_times(1.0, FINAL_TIME, 60),
        measures={
            "train_loss": TrainLoss(logistic),
            "axis_deviation": AngularDeviation(),
            "group_deviation": AngularDeviation(centre="groups"),
            "embedding_distance": EmbeddingDistance(),
            "direction_groups": DirectionGroups(),
        },
        final={"neuron_weights": NeuronWeights()},
    ),
    smoke={"cell": {"m": 64, "n": 128}, "seeds": 1},
    paper={"cell": {"m": (256, 4096, 65_536)}, "seeds": 100},
)


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """The neurons of the first network at the end, the history of all, per angle."""
    cells: list[xr.Dataset] = []
    for i in range(ds.sizes["angle"]):
        cell = ds.isel(angle=i)
        first = cell["neuron_weights"].isel(seed=0, drop=True)
        w1, w2, a = first.transpose("weight", "neuron")
        # Cut open half way between two groups, so that none is drawn at both ends.
        begin = float(cell["angle"]) / (2 * np.pi) - 1
        turned = lambda angle, begin=begin: (angle - begin) % 2 + begin
        square, extrema = w1**2 + w2**2, turned(law_directions(cell))
        share = square / square.sum()
        share = share.where((share > 1e-12) & (SIGNS * a > 0))
        way = xr.concat([cell[name] for name in WAYS], "way").assign_coords(way=[*WAYS])
        one = {"share": share, "way_there": way, "extrema": ("extremum", extrema)}
        one["place"] = turned(xr.ufuncs.arctan2(w2, w1) / np.pi).broadcast_like(share)
        cells.append(xr.Dataset(one, {"angle": cell["angle"]}))
    return xr.concat(cells, "angle")


SIGNS = xr.DataArray([1, -1], {"sign": ["a > 0", "a < 0"]})
WAYS = {
    "train_loss": "loss",
    "group_deviation": "95 % quantile within a group (rad)",
    "embedding_distance": "rms(f − f₄)/rms(f), f₄ of the same time",
}
extremum = lambda k: lambda part: part["extrema"][k]
figure = Panels(
    Points(
        "share",
        colour="sign",
        title="neurons at the end",
        ylabel="‖wⱼ‖² over the sum",
        yscale="log",
        x="place",
        xlabel="angle / π",
        laws=(
            VerticalLaw(extremum(0), "above: extrema of G"),
            *(VerticalLaw(extremum(k)) for k in (1, 2, 3)),
        ),
    ),
    Curves(
        "way_there",
        colour="way",
        first_colour=2,
        spread="each",
        x="time",
        xlabel="time",
        xscale="log",
        yscale="log",
        ylim=(1e-9, 10),
        laws=(VerticalLaw(CONDENSED, f"below: t = {CONDENSED:g}"),),
    ),
    columns="angle",
    of=drawn,
    names={"angle": {math.pi / k: f"α = {180 / k:g}°" for k in (2, 3)}, "way": WAYS},
    legend=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Four directions, equal shares, and the function of four neurons to the end."""
    out = []
    for i in range(ds.sizes["angle"]):
        cell = ds.isel(angle=i)
        out += _claims_of_cell(cell, f"α = {_degrees(cell)}°")
    return out


def _claims_of_cell(ds: xr.Dataset, where: str) -> list[Claim]:
    late = embedded(ds, experiment("smoke"), CONDENSED)
    four, share = _heaviest(ds["direction_groups"].isel(time=-1).values)
    law = law_directions(ds)
    apart = np.abs((four[..., None] - law + 1) % 2 - 1).min(axis=-1)
    source, off = f"{PAPER}, figure 2", {"tolerance": TOLERANCE}
    text = "rms(f − f₄)/rms(f) from t = 60 on, f₄ trained alone from there, largest"
    away = "direction of a group off the extremum of G, largest / π"
    even = "share of a group, farthest from ¼"
    out = [
        largest_of(f"{text}, {where}", late, (0, 1e-3), source, **off),
        largest_of(f"{away}, {where}", apart, (0, 0.02), source, **off),
        farthest_of(f"{even}, {where}", share, 0.25, (0.23, 0.27), source, **off),
    ]
    if abs(float(ds["angle"]) - math.pi / 2) < 1e-9:
        text = f"95 % of the neurons within, largest (rad), {where}"
        angle = ds["axis_deviation"].isel(time=-1)
        out.append(largest_of(text, angle, (0, 0.01), source, **off))
    return out


def law_directions(cell: xr.Dataset) -> np.ndarray:
    """Angles / π of the extrema of G of largest |G|, for the law (a large sample)."""
    angle, sigma, clip = (float(cell[name]) for name in ("angle", "sigma", "clip"))
    with exact_numerics():
        key = jax.random.key(0)
        data = xor_clusters(key, n=20_000, angle=angle, sigma=sigma, clip=clip)
    found = extremal_vectors(data)
    is_large = np.abs(found.value) > 0.9 * np.abs(found.value).max()
    x, y = found.direction[is_large].T
    return np.arctan2(y, x) / np.pi


def _heaviest(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angle / π and share of the four heaviest groups, per seed."""
    size = np.linalg.norm(groups, axis=-1)
    kept = np.argsort(-size, axis=-1)[:, :4]
    angle = np.arctan2(groups[..., 1], groups[..., 0]) / np.pi
    share = size / size.sum(-1, keepdims=True)
    return np.take_along_axis(angle, kept, -1), np.take_along_axis(share, kept, -1)


def _degrees(cell: xr.Dataset) -> str:
    return f"{math.degrees(float(cell['angle'])):.4g}"
