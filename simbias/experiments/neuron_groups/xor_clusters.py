"""Wide networks on XOR-like clusters become networks of four neurons.

ReLU neurons from a small unbalanced initialisation gather in four directions and stay
there: two directions for each class, orthogonal to the clusters of the other class.
From then on the network computes the function of a network with four neurons, whatever
its width.

The published code has 4096 neurons and runs gradient descent with learning rate 2⁻⁴ for
8192 epochs (here `published_descent`), which is time 512.  The default here is the
gradient flow.

Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, figure 2 and section 5.
"""

import dataclasses
import math
from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import farthest_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.separable.xor_clusters import SIGMA, xor_clusters
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.experiment_presets import presets
from simbias.experiments._draws import samples
from simbias.experiments._times import log_times
from simbias.experiments.neuron_groups._on_their_own import on_their_own
from simbias.figures import law_moment, legend_below
from simbias.figures.style import COLOURS, blank, style
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
from simbias.verbs.origin import origin

PAPER = "Tsoy & Konstantinov (2024), arXiv:2405.17299"
# What the claims are about: the final time of the smallest preset at least.
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


# What the figure and the claims read.
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


def figure(ds: xr.Dataset) -> Figure:
    """Neurons at the end by direction, and three distances over time, for each α."""
    with style():
        columns = ds.sizes["angle"]
        whole = blank(4.2 * columns, 5.6)
        panels = whole.subplots(2, columns, squeeze=False)
        for i in range(columns):
            cell = ds.isel(angle=i)
            _neurons(panels[0, i], cell.isel(seed=0))
            _way(panels[1, i], cell)
            panels[0, i].set_title(f"neurons at the end, α = {_degrees(cell)}°")
        panels[0, 0].set_ylabel("‖wⱼ‖² over the sum")
        legend_below(whole, columns=3)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Four directions, equal shares, and the function of four neurons to the end."""
    out = []
    for i in range(ds.sizes["angle"]):
        cell = ds.isel(angle=i)
        out += _claims_of_cell(cell, f"α = {_degrees(cell)}°")
    return out


def _claims_of_cell(ds: xr.Dataset, where: str) -> list[Claim]:
    late = embedded(ds)
    four, share = _heaviest(ds["direction_groups"].isel(time=-1).values)
    law = law_directions(ds)
    apart = np.abs((four[..., None] - law + 1) % 2 - 1).min(axis=-1)
    source, off = f"{PAPER}, figure 2", {"tolerance": TOLERANCE}
    text = {
        "late": "rms(f − f₄)/rms(f) from t = 60 on, f₄ left to itself there, largest",
        "apart": "direction of a group off the extremum of G, largest / π",
        "share": "share of a group, farthest from ¼",
        "angle": "95 % of the neurons within, largest (rad)",
    }
    text = {name: f"{said}, {where}" for name, said in text.items()}
    out = [
        largest_of(text["late"], late, (0, 1e-3), source, **off),
        largest_of(text["apart"], apart, (0, 0.02), source, **off),
        farthest_of(text["share"], share, 0.25, (0.23, 0.27), source, **off),
    ]
    if abs(float(ds["angle"]) - math.pi / 2) < 1e-9:
        angle = ds["axis_deviation"].isel(time=-1)
        out.append(largest_of(text["angle"], angle, (0, 0.01), source, **off))
    return out


def embedded(cell: xr.Dataset) -> np.ndarray:
    """Distance of four neurons of their own from t = 60 on, per seed and later time.

    Neurons are grouped once: at the first time of at least `CONDENSED` every group
    becomes one neuron, which goes on without the others; see `on_their_own`.
    """
    late = cell.sel(time=slice(CONDENSED, None))
    groups = late["direction_groups"].transpose("seed", "time", ...).values
    regrouped = late["embedding_distance"].transpose("seed", "time")
    out = np.full(regrouped.shape, np.nan)
    if not out.size:
        return out
    of_flow = [k for k in cell.coords if str(k).startswith(FLOW_PREFIX)]
    changes = {str(k).removeprefix(FLOW_PREFIX): cell[k].item() for k in of_flow}
    flow = dataclasses.replace(origin(cell, None).flow, **changes)
    is_there = regrouped.notnull().all("time")
    for (i,), _, data in samples(cell, experiment("smoke"), is_there):
        one = groups[i], regrouped.values[i]
        out[i] = on_their_own(*one, data, flow, late["time"].values)
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


def _neurons(axes: Any, cell: xr.Dataset) -> None:
    w, a = cell["neuron_weights"].values[:, :2], cell["neuron_weights"].values[:, 2]
    share = (w**2).sum(1) / (w**2).sum()
    # Cut open half way between two groups, so that none is drawn at both ends.
    begin = float(cell["angle"]) / (2 * np.pi) - 1
    turned = lambda angle: (angle - begin) % 2 + begin
    angle = turned(np.arctan2(w[:, 1], w[:, 0]) / np.pi)
    for sign, name in ((1, "a > 0"), (-1, "a < 0")):
        kept = (sign * a > 0) & (share > 1e-12)
        axes.plot(angle[kept], share[kept], ".", ms=3, label=name)
    for i, at in enumerate(turned(law_directions(cell))):
        label = None if i else "above: extrema of G"
        law_moment(axes, at, label)
    axes.set_yscale("log")
    axes.set_xlim(begin, begin + 2)
    axes.set_xticks([-0.5, 0, 0.5, 1])
    axes.set_xlabel("angle / π")


def _way(axes: Any, cell: xr.Dataset) -> None:
    for i, (name, label) in enumerate(
        (
            ("train_loss", "loss"),
            ("group_deviation", "95 % quantile within a group (rad)"),
            ("embedding_distance", "rms(f − f₄)/rms(f), f₄ of the same time"),
        )
    ):
        lines = axes.plot(
            cell["time"], cell[name].transpose("time", "seed"), lw=0.8, color=COLOURS[i]
        )
        lines[0].set_label(label)
    law_moment(axes, CONDENSED, f"below: t = {CONDENSED:g}", ls="-.")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-9, 10)
    axes.set_xlabel("time")
