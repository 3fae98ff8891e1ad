"""Flat channels: two neurons become one with output weights that grow without bound.

Martinelli et al. describe channels in which aᵢ, aⱼ → ±∞ and wᵢ → wⱼ, while the two
neurons approach c φ(w·x) + (v·x) φ'(w·x).  Let wᵢ − wⱼ = 2εv, (aᵢ − aⱼ)/2 = a = 1/2ε.
The pair then differs from its limit by O(ε²), so L = L∞ + κε² + …  Most of the path is
that of a, whose metric is dε²/2ε⁴.  So the gradient flow has ε' ∝ −κε⁵, and

    a ∝ t^¼,   |wᵢ − wⱼ| ∝ t^(−¼).

If φ is quadratic, two neurons at finite distance are equal to their limit, and κ = 0.

A network *is in a channel* if over the last decade of time the distance of a pair of
unlike signs falls, a rises, both by more than t^(±0.1), and a |wᵢ − wⱼ| changes by less
than 10 %.  Predictions, before any run:
    share in a channel  more than 0.1, for erf and GELU
    exponents           of these networks 0.2 … 0.3 for a, −0.3 … −0.2 for the distance
    control, quadratic  share below 0.05

Reference: Martinelli, van Meegen, Şimşek, Gerstner & Brea (2025), arXiv:2506.14951.
The exponents, the data and the detector are ours.
"""

import dataclasses
import functools
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, median_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.figures import Curves, Panels
from simbias.flows import GradientFlow
from simbias.losses import half_mse
from simbias.measures import ChannelPair, TrainLoss
from simbias.networks import standard
from simbias.networks.activations import ACTIVATIONS
from simbias.numerics.late_times import LATE_TIMES

AXES = ("activation", "m")
NAMES = {"erf": "erf", "gelu": "GELU", "quadratic": "quadratic"}
PAPER = "Martinelli et al. (2025), arXiv:2506.14951: “high probability”; band ours"
OURS = "derived: L = L∞ + κε² in the metric of a; band ours"


def make(
    key: PRNGKeyArray,
    *,
    activation: Literal["erf", "gelu", "quadratic"] = "erf",
    m: int = 4,
    n: int = 60,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample of y = sin(2x₁) + x₁x₂, and a two-layer network with hidden biases.

    Args:
        key: random key.
        activation: of the neurons.
        m: neurons, with Torch's start.
        n: inputs, N(0, I) in two dimensions.
    """
    key_x, key_network = jax.random.split(key)
    x = jax.random.normal(key_x, (n, 2), jnp.float64)
    y = (jnp.sin(2 * x[:, 0]) + x[:, 0] * x[:, 1])[:, None]
    network = standard(key_network, m=m, d=2, has_bias=True)
    network = dataclasses.replace(network, activation=ACTIVATIONS[activation])
    return Dataset(x, y), network


experiment = presets(
    Experiment(
        name="flat_channels",
        make=make,
        cell={"activation": tuple(NAMES), "m": (4, 8)},
        seeds=120,
        shared=("activation", "m"),
        flow=GradientFlow(LATE_TIMES, rtol=1e-6, max_steps=6000),
        loss=half_mse,
        times=log_times(1.0, 1e7, 70),
        measures={"train_loss": TrainLoss(), "pair": ChannelPair()},
    ),
    smoke={"cell": {"m": 4, "n": 12}, "seeds": 2, "times": log_times(1.0, 1e3, 30)},
    paper={"cell": {"m": (4, 8, 16, 32), "n": 200}, "seeds": 200},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Exponents over the last decade of time, and which networks are in a channel."""
    last = ds["time"] >= ds["time"].isel(time=-1) / 10 * 0.99
    pair = ds["pair"].isel(time=np.flatnonzero(last))
    span = np.log(pair["time"][-1] / pair["time"][0])
    slopes = xr.ufuncs.log(pair.isel(time=-1) / pair.isel(time=0)) / span
    weight, distance, product = (
        slopes.sel(number=k) for k in ("weight", "distance", "slope")
    )
    is_in = (weight > 0.1) & (distance < -0.1) & (abs(product * span) < 0.1)
    is_known = ds["train_loss"].isel(time=-1).notnull()
    return ds.assign(
        is_in=is_in.where(is_known),
        weight=weight.where(is_in),
        distance=distance.where(is_in),
        grown=ds["pair"].sel(number="weight").where(is_in),
        near=ds["pair"].sel(number="distance").where(is_in),
        share=is_in.where(is_known).mean("seed"),
    )


in_channels = functools.partial(
    Curves, colour="activation", spread="each", xlim=(1, None), yscale="log"
)
figure = Panels(
    in_channels(lambda ds: at(ds, "m", min)["grown"], ylabel="output weight a"),
    in_channels(lambda ds: at(ds, "m", min)["near"], ylabel="distance"),
    Curves(
        "share",
        x="m",
        colour="activation",
        mark="o",
        spread="none",
        xscale="linear",
        ticks=True,
        xlabel="neurons m",
        ylabel="share in a channel",
        ylim=(-0.03, 1),
    ),
    of=numbers,
    xscale="log",
    names={"activation": NAMES},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The share of networks in a channel and exponents there, and the control."""
    seen, out = numbers(ds), []
    needs = {"t ≥ 1e7": float(ds["time"][-1]) >= 1e7}
    for name in ds["activation"].values.tolist():
        for m in ds["m"].values.tolist():
            part, text = at(at(seen, "activation", name), "m", m), "share in a channel"
            if name == "quadratic":
                source = "derived: κ = 0; band ours"
                rows = [share_of(f"control: {text}", part["is_in"], (0, 0.05), source)]
            else:
                text_a, text_w = "exponent of a in t", "exponent of |wᵢ − wⱼ| in t"
                rows = [
                    share_of(text, part["is_in"], (0.1, 1), PAPER),
                    median_of(text_a, part["weight"], (0.2, 0.3), OURS),
                    median_of(text_w, part["distance"], (-0.3, -0.2), OURS),
                ]
            out += Claims(needs, f"{NAMES[name]}, m = {m}").rows(*rows)
    return out
