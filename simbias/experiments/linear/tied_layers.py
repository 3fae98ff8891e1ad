"""Tied layers, B = A²: how B moves, and where it follows the law of the lecture.

Both layers are one symmetric matrix A.  Its gradient flow gives exactly
Ḃ = −(∇B + 2A∇A + B∇).  If A commutes with the gradient, this is −4√B∇√B, the short law
of the lecture, which drops the factor.  A commutes from an initialisation with the
eigenvectors of the target.  From any other initialisation no factor makes the short law
exact.

Reference: Arora, Cohen & Hazan (2018), arXiv:1802.06509, of layers that are not tied;
the tied case is of Barak (2021), Harvard CS 229br, lecture 2, its exact law and the
sizes are ours.
"""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import linear_modes
from simbias.experiment_presets import presets
from simbias.experiments.linear._deep_linear import STRENGTHS, Tied
from simbias.experiments.linear._deep_linear_claims import (
    law_of_strengths,
    passages,
    ratios,
)
from simbias.figures import Curves, Law, Panels
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import half_mse
from simbias.measures import ModeStrengths, TiedVelocity, TrainLoss
from simbias.stops import TrainRiskBelow
from simbias.validation.sample import one_of
from simbias.validation.values import positive

DERIVED = "derived"
OURS = "ours: far beyond the rounding of a start that commutes"
LECTURE = "Barak (2021), Harvard CS 229br, lecture 2: the big get bigger"
LEAST_TIME = 8.0
AXES = ("start",)
Start = Literal["commuting", "random"]


def make(
    key: PRNGKeyArray, *, start: Start = "random", n: int = 12, scale: Real = 0.01
) -> tuple[Dataset, AbstractNetwork]:
    """A symmetric target of three modes, and a positive A with A² of size `scale`.

    "commuting": with the eigenvectors of the target.  "random": with random ones.
    """
    positive("scale", scale)
    one_of("start", start, ("commuting", "random"))
    key_data, key_network = jax.random.split(key)
    d = len(STRENGTHS)
    data = linear_modes(key_data, n=n, d=d, k=d, strengths=STRENGTHS, is_symmetric=True)
    z = jax.random.normal(key_network, (d + 1, d), jnp.float64)
    frame = jnp.linalg.qr(z[:d])[0] if start == "random" else data.features.T
    root = (frame * jnp.sqrt(scale * jnp.exp(z[d] / 2))[None, :]) @ frame.T
    return data, Tied((root + root.T) / 2)


experiment = presets(
    Experiment(
        name="tied_layers",
        make=make,
        cell={"start": ("commuting", "random")},
        seeds=20,
        flow=GradientFlow(PRECISE, rtol=1e-12),
        loss=half_mse,
        times=tuple(round(0.05 * i, 2) for i in range(241)),
        measures={
            "strengths": ModeStrengths(),
            "velocity_gap": TiedVelocity(),
            "train_loss": TrainLoss(),
        },
        # Below this ∇, a difference of numbers of size 4, is not known to 1e-8.
        stop=TrainRiskBelow(1e-13),
    ),
    smoke={"seeds": 3, "times": tuple(round(0.1 * i, 1) for i in range(81))},
    paper={"seeds": 1000},
)


# The law of two layers, in time 2t.
_LAW = Law(
    lambda part: law_of_strengths(part, part["strengths"].isel(time=0), 2, clock=2.0),
    colour="black",
)
figure = Panels(
    Curves(
        "velocity_gap",
        colour="start",
        line="law",
        title="|Ḃ + law|/|Ḃ|, best factor for the slide's law",
        yscale="log",
        ylim=(1e-18, 1e7),
    ),
    Curves(
        "strengths",
        colour="mode",
        of=lambda ds: at(ds, "start", "commuting"),
        title="mode strengths, commuting start; dashed: u′ = 4u(s − u)",
        laws=(_LAW,),
    ),
    legend="inside",
    size=(4.8, 3.8),
    of=lambda ds: ds.sel(time=slice(0, 5)),
    names={"mode": {i: f"s = {s:g}" for i, s in enumerate(STRENGTHS)}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The end; from a random initialisation no short law, but an order of modes."""
    end = np.sqrt(2 * ds["train_loss"].isel(time=-1))
    part = at(ds, "start", "random")
    worst = part["velocity_gap"].sel(law="slide").max("time")
    text = "|Ḃ + c √B∇√B|/|Ḃ|, best c, random start (control): at its most"
    order = "random start: ratio of the next mode's escape time, smallest"
    return [
        largest_of("|B − M| at the end, largest", end, (0, 1e-6), DERIVED),
        smallest_of(f"{text}, least member", worst, (1e-6, np.inf), OURS),
        smallest_of(order, ratios(passages(part, 0.5)), (1, np.inf), LECTURE),
    ]
