"""Early alignment in depth: layers become of rank one before the loss moves.

ReLU networks with L matrices and no biases are homogeneous of degree L.  From weights
of size λ → 0 the exact flow follows the gradient of (1/n) Σᵢ yᵢ f(xᵢ) until it escapes
from θ = 0.  Each network ends where its loss has fallen by 10 %.

Predictions, with the reasons on the page:
    time of escape     ln(1/λ)/s + O(1) for L = 2,  λ^(2−L) T̂ + O(1) for L > 2
    stable rank − 1    ∝ λ² in every layer for L > 2, slower for L = 2
    at the smallest λ  stable ranks below 1.05, neighbouring layers aligned, for L > 2

The control is λ = 1: there the loss falls while stable ranks are above 1.5.

Reference: Kumar & Haupt (2024), arXiv:2403.08121, prove convergence in direction within
a time λ^(2−L) for homogeneous networks with smooth gradients; Bantzis, Simon & Jacot
(2025), arXiv:2505.21722, bound ranks at the escape of deep ReLU networks.  All sizes,
and the rates in λ, are ours.
"""

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
from simbias.experiments.deep._until_escape import UntilEscape
from simbias.figures import Curves, Law, Panels
from simbias.flows import DeepReluFlow
from simbias.losses import half_mse
from simbias.measures import LayerAlignment, StableRanks, TrainLoss
from simbias.networks import mlp

AXES = ("depth", "scale")
LARGE, END = 1.0, 1e6
BLOW_UP = "derived: T = ln(1/λ)/s + O(1), or λ^(2−L) T̂ + O(1); band ours"
RANK = "derived: all but one path keep the size λ; band ours"
GROUPS = "derived: the groups of both signs grow at unlike rates; band ours"
LARGE_START = "ours: a large start"


def make(
    key: PRNGKeyArray,
    *,
    depth: int = 3,
    scale: Real = 0.01,
    n: int = 20,
    d: int = 5,
    m: int = 16,
    sigma: Real = 0.3,
) -> tuple[Dataset, AbstractNetwork]:
    """A noisy linear teacher, and a network without biases from a small start.

    Args:
        key: random key.
        depth: L, matrices of the network, 2 or more.
        scale: factor λ of the initial weights, N(0, 2λ²/inputs).
        n: training samples.
        d: entries of an input.
        m: width of the hidden layers.
        sigma: standard deviation of the noise of the targets.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    widths = (d, *[m] * (depth - 1), 1)
    return data, mlp(key_network, widths, scale=scale, has_bias=False)


experiment = presets(
    Experiment(
        name="deep_alignment",
        make=make,
        cell={"depth": (2, 3, 4), "scale": (LARGE, 0.16, 0.04, 0.01)},
        seeds=12,
        shared=("depth", "scale"),
        flow=UntilEscape(DeepReluFlow(rtol=1e-5, max_steps=4000)),
        loss=half_mse,
        times=log_times(0.01, END, 80),
        measures={"train_loss": TrainLoss(), "stable_rank": StableRanks()},
        final={"rank_at_escape": StableRanks(), "alignment": LayerAlignment()},
    ),
    smoke={"cell": {"depth": 3, "n": 8, "m": 4}, "seeds": 2},
    paper={
        "cell": {"depth": (2, 3, 4, 5), "scale": (LARGE, 0.08, 0.02, 0.005), "m": 50},
        "seeds": 40,
    },
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Times of escape, ranks there less 1, and their exponents in λ."""
    has_escaped = ds["status"] == Status.CONVERGED
    time, excess = ds["end_time"].where(has_escaped), ds["rank_at_escape"] - 1
    excess = excess.where(has_escaped)
    small = [s for s in sorted(ds["scale"].values.tolist()) if s < LARGE][:3]
    out = ds.assign(escape=time, excess=excess, pairs=ds["alignment"])
    out = out.assign(
        pairs=out["pairs"].where(has_escaped),
        largest=ds["stable_rank"].max("layer"),
        fall=1 - ds["train_loss"] / ds["train_loss"].isel(time=0),
        clock=(ds["time"] / time).transpose(..., "time"),
    )
    if len(small) < 3:
        return out
    low, mid, high = (lambda v, s=s: v.sel(scale=s) for s in small)
    later, before = low(time) - mid(time), mid(time) - high(time)
    ratio = (later / before).where((later > 0) & (before > 0))
    return out.assign(
        degree=2 + np.log(ratio) / np.log(small[1] / small[0]),
        exponent=np.log(mid(excess) / low(excess)) / np.log(small[1] / small[0]),
    )


figure = Panels(
    Curves(
        "escape",
        x="scale",
        colour="depth",
        mark="o",
        xscale="log",
        yscale="log",
        xlabel="initial scale λ",
        ylabel="time until the loss has fallen by 10 %",
    ),
    Curves(
        lambda ds: ds["excess"].isel(layer=slice(0, -1)),
        x="scale",
        colour="depth",
        line="layer",
        mark="o",
        spread="none",
        xscale="log",
        yscale="log",
        xlabel="initial scale λ",
        ylabel="stable rank − 1 at that time",
    ),
    Curves(
        lambda ds: at(ds, "scale", min)["largest"],
        x=lambda ds: at(ds, "scale", min)["clock"],
        colour="depth",
        spread="each",
        xlim=(0, 1.1),
        ylabel="largest stable rank of a layer",
        xlabel="time over that of the escape, smallest λ",
        laws=(Law(1),),
    ),
    of=numbers,
    names={"depth": "layers", "layer": "matrix"},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Times, exponents and ranks for each depth, and the large start."""
    seen, out = numbers(ds), []
    needs = {"three λ below 1": "degree" in seen, "d ≥ 5": int(ds["d"]) >= 5}
    if not needs["three λ below 1"]:
        return out
    for depth in ds["depth"].values.tolist():
        part, least = at(seen, "depth", depth), float(ds["scale"].min())
        small, large = at(part, "scale", min), at(part, "scale", LARGE)
        text = "degree of homogeneity from times of escape"
        band = (depth - 0.2, depth + 0.2)
        rows = [median_of(text, part["degree"], band, BLOW_UP)]
        for layer in range(depth - 1):
            text = f"exponent in λ of stable rank − 1, matrix {layer + 1}"
            band, source = ((1.5, 2.5), RANK) if depth > 2 else ((0, 1.5), GROUPS)
            rows.append(
                median_of(text, part["exponent"].isel(layer=layer), band, source)
            )
        if depth > 2:
            text = f"λ = {least:g}: largest stable rank of a matrix"
            rank = 1 + small["excess"].max("layer")
            rows.append(median_of(text, rank, (1, 1.05), RANK))
            text = f"λ = {least:g}: least alignment of neighbouring matrices"
            rows.append(median_of(text, small["pairs"].min("pair"), (0.95, 1), RANK))
        text = "control, λ = 1: least stable rank of a matrix before the last"
        rank = 1 + large["excess"].isel(layer=slice(0, depth - 1)).min("layer")
        rows.append(median_of(text, rank, (1.5, np.inf), LARGE_START))
        out += Claims(needs, f"{depth} layers").rows(*rows)
    return out
