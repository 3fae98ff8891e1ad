"""Six architectures from a small start learn one unit at a time.

A unit is a neuron, a kernel or a head with all its weights.  The rows of U are the
units of a network, s₁ ≥ s₂ ≥ … are the singular values of U, and

    d_k = √(s²_{k+1} + s²_{k+2} + …) / |U|

is the distance from the matrices of rank k.  It is 0 where a network has k units, or
where its units lie in k directions.  Zhang, Saxe & Latham state that networks move near
such manifolds, from saddle to saddle.  Teachers here have three units of sizes 1, ½, ¼.

Predictions, before any run, at the smallest λ:
    one at a time      d₁ < 0.1 when the loss has fallen by 10 %, and d₂ < 0.1 when s₂
                       is half of its end
    units at the end   s_k > 0.1 s₁ for three k
    first plateau      the degree from its length at three λ is 2, and 3 for quadratic
                       networks and attention, whose units have degree 3
    second plateau     from that time to that of s₂: longer for the smaller λ
    control, λ = 1     d₁ > 0.3 when the loss has fallen by 10 %

Reference: Zhang, Saxe & Latham (2025), arXiv:2512.20607.  Teachers, sizes, measures and
bands are ours.
"""

import functools
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.first_passage import first_passage
from simbias.claims import Claims, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.experiments._by_kinks import ByKinks
from simbias.experiments._times import log_times
from simbias.figures import Curves, Panels
from simbias.flows import DeepReluFlow, GradientFlow
from simbias.losses import half_mse
from simbias.measures import TrainLoss, UnitSingularValues
from simbias.networks import (
    Mlp,
    PatchConvolution,
    linear_attention,
    patch_convolution,
)
from simbias.networks.activations import ACTIVATIONS
from simbias.stops import TrainRiskBelow

AXES = ("architecture", "scale")
NAMES = {
    "linear": "linear",
    "relu": "ReLU",
    "quadratic": "quadratic",
    "linear_patches": "linear convolution",
    "relu_patches": "ReLU convolution",
    "attention": "linear attention",
}
CUBIC = ("quadratic", "attention")
LARGE, UNITS = 1.0, 3
PAPER = "Zhang, Saxe & Latham (2025), arXiv:2512.20607; teacher and band ours"
OURS = "derived: the degree of a unit in its weights; band ours"


def make(
    key: PRNGKeyArray,
    *,
    architecture: Literal[
        "linear", "relu", "quadratic", "linear_patches", "relu_patches", "attention"
    ] = "linear",
    scale: Real = 0.01,
    n: int = 60,
    d: int = 4,
    m: int = 12,
) -> tuple[Dataset, AbstractNetwork]:
    """A teacher of three units, and a network of the same architecture.

    Unit i of a teacher reads coordinate i of an input or of every patch.  Its output
    has size 1, ½ or ¼; that of ReLU neurons has the signs +, −, +.  Attention learns
    y = β*·x from 8 examples; the variances of x are 1, √½ and ½.

    Args:
        key: random key.
        architecture: of network and teacher.
        scale: factor λ of the initial weights, N(0, λ²/m).
        n: training samples.
        d: entries of an input, or of a patch; there are 4 patches.
        m: units of the network.
    """
    key_x, key_y, key_net = jax.random.split(key, 3)
    normal = lambda k, *shape: jax.random.normal(k, shape, jnp.float64)
    size = 0.5 ** jnp.arange(UNITS, dtype=jnp.float64)
    if architecture == "attention":
        spread = 0.5 ** (jnp.arange(UNITS, dtype=jnp.float64) / 4)
        x, slope = (
            spread[None, None] * normal(key_x, n, 9, UNITS),
            normal(key_y, n, UNITS),
        )
        label = jnp.einsum("nti,ni->nt", x, slope)
        tokens = jnp.concatenate([x, label[..., None]], axis=2)[:, :-1].reshape(n, -1)
        inputs, y = jnp.concatenate([tokens, x[:, -1]], axis=1), label[:, -1:]
        network: AbstractNetwork = linear_attention(key_net, m=m, p=UNITS, scale=scale)
    elif architecture.endswith("patches"):
        name = "relu" if architecture == "relu_patches" else "identity"
        inputs, out = normal(key_x, n, 4 * d), jnp.linalg.qr(normal(key_y, 4, UNITS))[0]
        kernels = jnp.eye(UNITS, d)
        teacher = PatchConvolution(kernels, (out * size[None]).T, ACTIVATIONS[name])
        y = jax.vmap(teacher)(inputs)
        network = patch_convolution(
            key_net, m=m, q=d, p=4, scale=scale, activation=name
        )
    else:
        name = "identity" if architecture == "linear" else architecture
        inputs = normal(key_x, n, d)
        parts = size[None] * ACTIVATIONS[name](inputs[:, :UNITS])
        signs = jnp.array([1.0, -1.0, 1.0]) if name == "relu" else jnp.ones(UNITS)
        mixed = jnp.linalg.qr(normal(key_y, UNITS, UNITS))[0]
        y = parts @ mixed if name == "identity" else (parts @ signs)[:, None]
        k = y.shape[1]
        draws = normal(key_net, m, d + k) * jnp.asarray(scale, jnp.float64) / m**0.5
        pair = (draws[:, :d], draws[:, d:].T)
        network = Mlp(pair, (None, None), ACTIVATIONS[name])
    return Dataset(inputs, y), network


experiment = presets(
    Experiment(
        name="six_architectures",
        make=make,
        cell={
            "architecture": tuple(NAMES),
            "scale": (LARGE, 0.2, 0.05, 0.0125),
        },
        seeds=8,
        shared=("architecture", "scale"),
        flow=ByKinks(
            DeepReluFlow(rtol=1e-5, max_steps=20_000),
            GradientFlow(rtol=1e-6, max_steps=20_000),
        ),
        loss=half_mse,
        times=log_times(0.1, 3e3, 180),
        measures={"train_loss": TrainLoss(), "units": UnitSingularValues()},
        stop=TrainRiskBelow(1e-6),
    ),
    smoke={
        "cell": {"architecture": "linear", "scale": (0.2, 0.05), "n": 12, "m": 5},
        "seeds": 2,
        "times": log_times(1.0, 100.0, 40),
    },
    paper={
        "cell": {"m": 50, "n": 200},
        "seeds": 100,
        "times": log_times(0.1, 1e5, 400),
    },
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Distances d₁ and d₂ in time, ends of plateaus, and d₁ and d₂ there."""
    s = ds["units"]
    beyond = lambda k: np.sqrt((s.isel(unit=slice(k, None)) ** 2).sum("unit"))
    one, two = (beyond(k) / np.sqrt((s**2).sum("unit")) for k in (1, 2))
    fallen = 1 - ds["train_loss"] / ds["train_loss"].isel(time=0)
    second = s.isel(unit=1) / s.isel(unit=1, time=-1)
    first_end, second_end = first_passage(fallen, 0.1), first_passage(second, 0.5)
    # The record before, so that nothing of the next stage is seen.
    last = lambda when: ds["time"].where(ds["time"] <= when).max("time")
    read = lambda values, when: values.where(ds["time"] == last(when)).max("time")
    known = [
        *sorted(v for v in ds["scale"].values.tolist() if v < LARGE),
        *[np.nan] * 2,
    ]
    low, mid, high = (
        first_end.reindex(scale=[v]).isel(scale=0, drop=True) for v in known[:3]
    )
    ratio = (low - mid) / (mid - high)
    length, end = second_end - first_end, s.isel(time=-1)
    is_known = end.notnull().all("unit")
    return ds.assign(
        one=one,
        first_end=first_end,
        alone=read(one, first_end),
        pair=read(two, second_end),
        number=(end > 0.1 * end.isel(unit=0)).sum("unit").where(is_known),
        degree=2 + np.log(ratio.where(ratio > 0)) / np.log(known[1] / known[0]),
        length=length,
        left=ds["train_loss"] / ds["train_loss"].isel(time=0),
    )


by_architecture = functools.partial(
    Curves, colour="architecture", first_colour=5, spread="none", yscale="log"
)
by_scale = functools.partial(by_architecture, x="scale", mark="o", xlabel="scale λ")
figure = Panels(
    Curves(
        lambda ds: at(ds, "scale", min)["units"],
        colour="unit",
        facet="architecture",
        spread="each",
        xlim=(1, None),
        ylabel="singular values",
    ),
    by_architecture(
        lambda ds: at(ds, "scale", min)["left"],
        xlim=(1, None),
        ylim=(1e-4, 2),
        ylabel="relative train loss",
    ),
    by_scale("alone", ylabel="d₁ at the first drop"),
    by_scale("first_end", ylabel="first plateau"),
    of=numbers,
    xscale="log",
    names={"architecture": NAMES, "unit": {i: f"s{'₁₂₃₄₅'[i]}" for i in range(5)}},
    across=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Units at the ends of two plateaus and in the end, plateaus, and a large start."""
    seen, out = numbers(ds), []
    needs = {"λ ≤ 0.0125": float(ds["scale"].min()) <= 0.0125}
    needs |= {"m ≥ 12": int(ds["m"]) >= 12}
    for name in ds["architecture"].values.tolist():
        part = at(seen, "architecture", name)
        small, next_one = at(part, "scale", min), part.sortby("scale")
        large = at(part, "scale", LARGE)
        next_one = next_one.isel(scale=min(1, part.sizes["scale"] - 1))
        degree = 3 if name in CUBIC else 2
        longer = small["length"] / next_one["length"]
        ten = "when the loss has fallen by 10 %"
        out += Claims(needs, NAMES[name]).rows(
            median_of(f"d₁ {ten}", small["alone"], (0, 0.1), PAPER),
            median_of("d₂ when s₂ is half of its end", small["pair"], (0, 0.1), PAPER),
            median_of("units at the end", small["number"], (UNITS, UNITS), PAPER),
            median_of(
                "degree from first plateaus",
                part["degree"],
                (degree - 0.2, degree + 0.2),
                OURS,
            ),
            median_of(
                "second plateau, smallest λ over the next", longer, (1, np.inf), PAPER
            ),
            median_of(
                f"control, λ = 1: d₁ {ten}",
                large["alone"],
                (0.3, 1),
                "ours: a large start",
            ),
        )
    return out
