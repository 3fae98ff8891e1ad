"""Early alignment in depth: layers become of rank one before the loss moves.

ReLU networks with L matrices and no biases are homogeneous of degree L.  From weights
of size λ → 0 the exact flow follows the gradient of (1/n) Σᵢ yᵢ f(xᵢ) until it escapes
from θ = 0.  Each network ends where its loss has fallen by 10 %.

Predictions, with the reasons on the page:
    time of escape     ln(1/λ)/s + O(1) for L = 2,  λ^(2−L) T̂ + O(1) for L > 2
    stable rank − 1    ∝ λ² in every layer for L > 2, slower for L = 2
    at the smallest λ  stable ranks below 1.05, neighbouring layers aligned, for L > 2
    control, λ = 1     stable ranks above 1.5

Reference: Kumar & Haupt (2024), arXiv:2403.08121, for smooth gradients; Bantzis, Simon
& Jacot (2025), arXiv:2505.21722, for ranks.  Sizes and rates in λ are ours.
"""

from functools import partial

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real, Status
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.deep._depths import check_depth
from simbias.experiments.deep._until_escape import UntilEscape
from simbias.figures import Curves, Panels
from simbias.flows import DeepReluFlow
from simbias.losses import half_mse
from simbias.measures import LayerAlignment, StableRanks, TrainLoss
from simbias.networks import mlp

AXES = ("depth", "scale")
LARGE = 1.0
BLOW_UP = "derived: T = ln(1/λ)/s + O(1), or λ^(2−L) T̂ + O(1); band ours"
RANK = "derived: all but one path keep the size λ; band ours"
GROUPS = "derived: the groups of both signs grow at unlike rates; band ours"


def make(
    key: PRNGKeyArray,
    *,
    depth: int = 3,
    scale: Real = 0.01,
    n: int = 20,
    d: int = 5,
    m: int = 16,
) -> tuple[Dataset, AbstractNetwork]:
    """A noisy linear teacher, and a network without biases from a small start.

    Args:
        key: random key.
        depth: L, matrices of the network, 2 or more.
        scale: factor λ of the initial weights, N(0, 2λ²/inputs).
        n: training samples.
        d: entries of an input.
        m: width of the hidden layers.
    """
    check_depth(depth)
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, n_test=1)
    widths = (d, *[m] * (depth - 1), 1)
    return data, mlp(key_network, widths, scale=scale, has_bias=False)


experiment = presets(
    Experiment(
        name="deep_alignment",
        make=make,
        cell={"depth": (2, 3, 4), "scale": (LARGE, 0.16, 0.04, 0.01)},
        seeds=40,
        shared=("depth", "scale"),
        flow=UntilEscape(DeepReluFlow(rtol=1e-5, max_steps=4000)),
        loss=half_mse,
        times=log_times(0.1, 1e6, 240),
        measures={"train_loss": TrainLoss(), "stable_rank": StableRanks()},
        final={"rank_at_escape": StableRanks(), "alignment": LayerAlignment()},
    ),
    smoke={"cell": {"depth": 3, "n": 8, "m": 4}, "seeds": 2},
    paper={"cell": {"scale": (LARGE, 0.08, 0.02, 0.005), "m": 50}, "seeds": 200},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Times of escape, ranks there less 1, and their exponents in λ."""
    has_escaped = ds["status"] == Status.CONVERGED
    time = ds["end_time"].where(has_escaped)
    excess = (ds["rank_at_escape"] - 1).where(has_escaped)
    small = sorted(s for s in ds["scale"].values.tolist() if s < LARGE)
    low, mid, high = [*small, *[LARGE] * 3][:3]
    at_scale = lambda v, s: v.reindex(scale=[s]).isel(scale=0, drop=True)
    later = at_scale(time, low) - at_scale(time, mid)
    ratio = later / (at_scale(time, mid) - at_scale(time, high))
    less = at_scale(excess, mid) / at_scale(excess, low)
    return ds.assign(
        escape=time,
        excess=excess,
        pairs=ds["alignment"].where(has_escaped),
        clock=(ds["time"] / time).transpose(..., "time"),
        degree=2 + np.log(ratio.where(ratio > 0)) / np.log(mid / low),
        exponent=np.log(less) / np.log(mid / low),
    )


_of_scale = partial(Curves, colour="depth", mark="o", yscale="log")
figure = Panels(
    _of_scale("escape", ylabel="time of escape"),
    _of_scale(
        lambda ds: ds["excess"].where(ds["layer"] < ds["depth"] - 1),
        line="layer",
        spread="none",
        ylabel="stable rank − 1",
    ),
    Curves(
        lambda ds: at(ds, "scale", min)["stable_rank"].max("layer"),
        x=lambda ds: at(ds, "scale", min)["clock"],
        colour="depth",
        spread="each",
        xscale="linear",
        xlim=(0, 1.05),
        xlabel="time / time of escape",
        ylabel="largest stable rank",
    ),
    of=numbers,
    x="scale",
    xscale="log",
    xlabel="scale λ",
    names={"depth": "layers", "layer": {i: f"matrix {i + 1}" for i in range(5)}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Times, exponents and ranks for each depth, and the large start."""
    seen, out = numbers(ds), []
    needs = {"three λ below 1": int((ds["scale"] < LARGE).sum()) > 2}
    is_wide = {"d ≥ 5": int(ds["d"]) >= 5, "m ≥ 16": int(ds["m"]) >= 16}
    for depth in ds["depth"].values.tolist():
        part, where = at(seen, "depth", depth), f"{depth} layers"
        small, large = at(part, "scale", min), at(part, "scale", LARGE)
        text, band = "degree from times of escape", (depth - 0.2, depth + 0.2)
        rows = [median_of(text, part["degree"], band, BLOW_UP)]
        band, source = ((1.5, 2.5), RANK) if depth > 2 else ((0, 1.5), GROUPS)
        for layer in range(depth - 1):
            text = f"exponent in λ of stable rank − 1, matrix {layer + 1}"
            exponent = part["exponent"].isel(layer=layer)
            rows.append(median_of(text, exponent, band, source))
        if depth > 2:
            rank, pair = 1 + small["excess"].max("layer"), small["pairs"].min("pair")
            text = "smallest λ: largest stable rank of a matrix"
            rows.append(median_of(text, rank, (1, 1.05), RANK))
            text = "smallest λ: least alignment of neighbouring matrices"
            rows.append(median_of(text, pair, (0.95, 1), RANK))
        out += Claims(needs, where).rows(*rows)
        text = "control, λ = 1: least stable rank of a matrix before the last"
        rank = 1 + large["excess"].isel(layer=slice(0, depth - 1)).min("layer")
        control = median_of(text, rank, (1.5, np.inf), "ours: a large start")
        out += Claims(is_wide, where).rows(control)
    return out
