"""Escape from the origin in depth: how long it takes, and the gap of singular values.

Networks of L = 5 matrices have r small ones, the last r, of size ε; the others have
Kaiming's start.  A network ends where its loss is 10 % below that of f = 0.  The
gradient of (1/n) Σᵢ yᵢ f(xᵢ) has degree r − 1 in the small matrices, if φ(z) ∝ z for
z → 0.  So the time of escape is

    T = ε^(2−r) T̂ + O(1) for r > 2,   ln(1/ε)/s + O(1) for r = 2,   T₀ + O(ε) for r = 1.

Predictions, before any run:
    degree             r, from differences of T at three ε, for ReLU, tanh, erf, linear
    control, r = 1     T at the smallest ε over T at the largest: 0.8 … 1.25
    control, squares   if the last hidden layer squares, the degree is 2r − 1
    gap, r = L         ReLU: s₁ ≥ ℓ^¼ s₂ in every matrix ℓ < L at the smallest ε, not at
                       the start; larger in matrix L − 1 than in the first

Reference: Rawal & DeWeese (2026), arXiv:2605.01288, for times; Bantzis, Simon & Jacot
(2025), arXiv:2505.21722, for the gap.  Sizes, the place of the small matrices and the
squares are ours.
"""

import dataclasses
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real, Status
from simbias.datasets import gaussian_teacher
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._by_kinks import ByKinks
from simbias.experiments.deep._depths import check_depth
from simbias.experiments.deep._until_escape import UntilEscape
from simbias.figures import Curves, Law, Panels
from simbias.flows import DeepReluFlow, GradientFlow
from simbias.losses import half_mse
from simbias.measures import SingularShares, TrainLoss
from simbias.networks import mlp
from simbias.networks.activations import quadratic

AXES = ("activation", "small", "scale")
SQUARES = "squares"
NAMES = {
    "relu": "ReLU",
    "tanh": "tanh",
    "erf": "erf",
    "identity": "linear",
    SQUARES: "tanh, last squares",
}
TIMES = "Rawal & DeWeese (2026), arXiv:2605.01288; random start, band ours"
OURS = "derived: the degree in the small matrices; band ours"
GAP = "Bantzis, Simon & Jacot (2025), arXiv:2505.21722, for the optimal direction"


def make(
    key: PRNGKeyArray,
    *,
    activation: Literal["relu", "tanh", "erf", "identity", "squares"] = "relu",
    small: int = 3,
    scale: Real = 0.01,
    depth: int = 5,
    n: int = 20,
    d: int = 5,
    m: int = 16,
) -> tuple[Dataset, AbstractNetwork]:
    """A noisy linear teacher, and a network without biases with r small matrices.

    Args:
        key: random key.
        activation: of the hidden layers; "squares" is tanh in all but the last of
            them, and z² there.
        small: r, the number of small matrices, from the last.
        scale: factor ε of their initial weights, N(0, 2ε²/inputs).
        depth: L, matrices of the network.
        n: training samples.
        d: entries of an input.
        m: width of the hidden layers.

    Raises:
        ValueError: for more small matrices than there are.
    """
    check_depth(depth)
    if not 1 <= small <= depth:
        raise BadInput(
            f"`small` must be from 1 to `depth` = {depth}, got {small}. "
            "Example: small=2."
        )
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, n_test=1)
    does_square = activation == SQUARES
    name, widths = "tanh" if does_square else activation, (d, *[m] * (depth - 1), 1)
    network = mlp(key_network, widths, has_bias=False, activation=name)
    weights = [
        w if layer < depth - small else jnp.asarray(scale, w.dtype) * w
        for layer, w in enumerate(network.weights)
    ]
    network = dataclasses.replace(network, weights=tuple(weights))
    if does_square:
        hidden = (*[jnp.tanh] * (depth - 2), quadratic)
        network = dataclasses.replace(network, activation=hidden)
    return data, network


experiment = presets(
    Experiment(
        name="deep_escape",
        make=make,
        cell={
            "activation": tuple(NAMES),
            "small": (1, 2, 3, 4, 5),
            "scale": (0.16, 0.04, 0.01),
        },
        seeds=12,
        shared=("activation", "small", "scale"),
        flow=UntilEscape(
            ByKinks(
                DeepReluFlow(rtol=1e-5, max_steps=8000),
                GradientFlow(rtol=1e-5, max_steps=8000),
            ),
            growth=0.03,
            of_each=True,
        ),
        loss=half_mse,
        times=(0.0, 1e12),
        measures={"train_loss": TrainLoss(), "shares": SingularShares(most=2)},
    ),
    smoke={
        "cell": {"activation": "relu", "small": 3, "depth": 3, "n": 8, "m": 4},
        "seeds": 2,
    },
    paper={"cell": {"scale": (0.08, 0.02, 0.005), "m": 50}, "seeds": 200},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Times of escape, the degree that they give, and gaps over the bound."""
    has_escaped = ds["status"] == Status.CONVERGED
    time = ds["end_time"].where(has_escaped)
    sizes = [*sorted(ds["scale"].values.tolist()), *[np.nan] * 2][:3]
    low, mid, high = (time.reindex(scale=[s]).isel(scale=0, drop=True) for s in sizes)
    ratio = (low - mid) / (mid - high)
    gap = (1 / ds["shares"].isel(value=1)).where(ds["layer"] < ds["depth"] - 1)
    gap = gap.rename(layer="matrix").assign_coords(matrix=ds["layer"].values + 1)
    over = (gap / gap["matrix"] ** 0.25).min("matrix")
    return ds.assign(
        escape=time,
        degree=2 + np.log(ratio.where(ratio > 0)) / np.log(sizes[1] / sizes[0]),
        longer=low / high,
        gap=gap.isel(time=-1).where(has_escaped),
        over=over.isel(time=-1).where(has_escaped),
        over_at_start=over.isel(time=0),
    )


figure = Panels(
    Curves(
        "escape",
        colour="small",
        facet="activation",
        mark="o",
        xscale="log",
        yscale="log",
        xlabel="size ε of the small matrices",
        ylabel="time of escape",
    ),
    Curves(
        lambda ds: at(at(ds, "activation", "relu"), "small", int(ds["depth"]))["gap"],
        x="matrix",
        ticks=True,
        xscale="linear",
        colour="scale",
        first_colour=5,
        mark="o",
        yscale="log",
        xlabel="matrix ℓ",
        ylabel="s₁/s₂ at the escape",
        title="ReLU, r = L",
        laws=(Law(lambda ds: ds["matrix"] ** 0.25, "ℓ^¼"),),
    ),
    of=numbers,
    x="scale",
    names={"activation": NAMES, "small": "r", "scale": "ε"},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Degrees for each activation and r, the gap, and their controls."""
    seen, out = numbers(ds), []
    needs = {"three ε": ds.sizes["scale"] > 2, "m ≥ 16": int(ds["m"]) >= 16}
    for name in ds["activation"].values.tolist():
        part, rows = at(seen, "activation", name), []
        for r in sorted(ds["small"].values.tolist()):
            one = at(part, "small", r)
            if r == 1:
                text = "control, r = 1: T at the smallest ε over T at the largest"
                rows.append(median_of(text, one["longer"], (0.8, 1.25), OURS))
            elif name != SQUARES:
                text, band = f"r = {r}: degree from times of escape", (r - 0.2, r + 0.2)
                source = OURS if name == "relu" else TIMES
                rows.append(median_of(text, one["degree"], band, source))
            elif r < 4:
                text = f"control, r = {r}: degree from times of escape"
                band = (2 * r - 1.3, 2 * r - 0.7)
                rows.append(median_of(text, one["degree"], band, OURS))
        out += Claims(needs, NAMES[name]).rows(*rows)
    depth = int(ds["depth"])
    relu = at(at(at(seen, "activation", "relu"), "small", depth), "scale", min)
    log = xr.ufuncs.log(relu["gap"])
    first, last = log.isel(matrix=0), log.isel(matrix=depth - 2)
    text = f"r = L = {depth}: least s₁/(ℓ^¼ s₂) of a matrix"
    more = "ln s₁/s₂ of matrix L − 1 less that of the first"
    return out + Claims(needs, "ReLU").rows(
        median_of(f"{text}, at the escape", relu["over"], (1, np.inf), GAP),
        median_of(
            f"control, {text}, at the start", relu["over_at_start"], (0, 1), OURS
        ),
        difference_of(f"r = L: {more}", last, first, (0, np.inf), OURS),
    )
