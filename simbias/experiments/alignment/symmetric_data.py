"""Symmetric data: a ReLU network without biases learns a line, on half the clock.

Let (−x, −y) be a sample whenever (x, y) is.  Then Σᵢ yᵢ|v·xᵢ| = 0 for every v, and

    G(v) = (1/n) Σᵢ yᵢ φ(v·xᵢ) = (1 + α)/2 · v·(1/n) Σᵢ yᵢ xᵢ

for φ of slope α below 0.  From weights of size λ → 0 neurons turn to ±Σᵢ yᵢ xᵢ and grow
(1 + α)/2 times as fast as those of a linear network.  Zhang, Saxe & Latham state that
the network learns as a linear one.  Weights here are random and small, of both signs.

Predictions, before any run:
    end                  f is least squares on the sample, for λ → 0
    clock                time to half the loss: its increase from one λ to a smaller one
                         is 1.5 times as long for α = 0 as for α = ½
    control, plain data  as many samples, none mirrored: f is not linear, and the clock
                         is below 1.45

Reference: Zhang, Saxe & Latham (2024), arXiv:2406.12615.  Random starts are ours.
"""

import dataclasses
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
from simbias.datasets import gaussian_teacher
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.figures import Curves, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import DistanceToOls, LinearityDefect, TrainLoss
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer_init import balanced

AXES = ("kind", "percent", "scale")
PAPER = "Zhang et al. (2024), arXiv:2406.12615; random start and tolerance ours"
OURS = "derived: Σ y|v·x| ≠ 0; band ours"


def make(
    key: PRNGKeyArray,
    *,
    kind: Literal["symmetric", "plain"] = "symmetric",
    percent: int = 0,
    scale: Real = 1e-4,
    n: int = 40,
    d: int = 5,
    sigma: Real = 0.3,
    m: int = 50,
) -> tuple[Dataset, AbstractNetwork]:
    """A noisy linear teacher, and a two-layer network without biases.

    Args:
        key: random key.
        kind: "symmetric": the second half of the sample is (−x, −y) of the first;
            "plain": all samples are independent.
        percent: 100 α, the slope of the activation below 0: 0 is ReLU.
        scale: factor λ of the initial weights.
        n: training samples, an even number.
        d: entries of an input.
        sigma: standard deviation of the noise of the targets.
        m: neurons.

    Raises:
        ValueError: for symmetric data of an odd number of samples.
    """
    if kind == "symmetric" and n % 2:
        raise BadInput(f"`n` must be even for symmetric data, got {n}. Example: n=40.")
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    if kind == "symmetric":
        mirrored = lambda v: jnp.concatenate([v[: n // 2], -v[: n // 2]])
        data = dataclasses.replace(
            data, x=mirrored(data.x), y=mirrored(data.y), mean=mirrored(data.mean)
        )
    network = balanced(key_network, m=m, d=d, scale=scale)
    activation = LeakyRelu(percent / 100) if percent else jax.nn.relu
    return data, dataclasses.replace(network, activation=activation)


experiment = presets(
    Experiment(
        name="symmetric_data",
        make=make,
        cell={
            "kind": ("symmetric", "plain"),
            "percent": (0, 50),
            "scale": (1e-2, 1e-4, 1e-8),
        },
        seeds=60,
        shared=("kind", "percent", "scale"),
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=(*np.arange(0.0, 100.0, 0.5).tolist(), 200.0, 1000.0),
        measures={"train_loss": TrainLoss(), "distance": DistanceToOls()},
        final={"defect": LinearityDefect()},
    ),
    smoke={
        "cell": {"percent": 0, "scale": (1e-2, 1e-4), "n": 12, "d": 2, "m": 8},
        "seeds": 2,
        "times": (0.0, 5.0, 10.0, 20.0, 100.0),
    },
    paper={"cell": {"scale": (1e-2, 1e-4, 1e-8, 1e-16), "m": 200}, "seeds": 200},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Time to half the loss, and the clock (1 + α)/2 · t."""
    fallen = -xr.ufuncs.log(ds["train_loss"] / ds["train_loss"].isel(time=0))
    return ds.assign(
        half=first_passage(fallen, float(np.log(2))),
        clock=(1 + ds["percent"] / 100) / 2 * ds["time"],
        end=ds["distance"].isel(time=-1),
    )


figure = Panels(
    Curves(
        lambda ds: at(ds, "scale", min)["train_loss"],
        x=lambda ds: at(ds, "scale", min)["clock"],
        colour="percent",
        facet="kind",
        spread="none",
        xlabel="(1 + α)/2 · t",
        ylabel="train loss",
        xlim=(0, 60),
    ),
    Curves(
        "end",
        x="scale",
        colour="kind",
        line="percent",
        first_colour=2,
        mark="o",
        xscale="log",
        yscale="log",
        xlabel="scale λ",
        ylabel="distance to least squares at the end",
    ),
    of=numbers,
    names={"percent": {0: "ReLU", 50: "slope ½"}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The end for each slope, the clock, and both without mirror images."""
    seen, out = numbers(ds), []
    for percent in ds["percent"].values.tolist():
        where = "ReLU" if percent == 0 else f"slope {percent / 100:g}"
        last = at(at(seen, "percent", percent), "scale", min)
        rows = []
        for name, text in (
            ("end", "distance to least squares"),
            ("defect", "|f(x) + f(−x)| over |f(x)|"),
        ):
            for kind, said, band, source in (
                ("symmetric", "", (0, 0.01), PAPER),
                ("plain", "control, no mirror images: ", (0.05, np.inf), OURS),
            ):
                value = at(last, "kind", kind)[name]
                rows.append(median_of(f"{said}{text}", value, band, source))
        out += Claims({"λ ≤ 1e-8": float(ds["scale"].min()) <= 1e-8}, where).rows(*rows)
    half = seen["half"]
    longer = (half - half.shift(scale=1)).isel(scale=-1)
    ratio = at(longer, "percent", 0) / at(longer, "percent", 50)
    symmetric, plain = (at(ratio, "kind", kind) for kind in ("symmetric", "plain"))
    text = "time to half the loss, ReLU over slope ½"
    control = f"control, no mirror images: {text}"
    return out + Claims({"two λ": half.sizes["scale"] > 1}).rows(
        median_of(text, symmetric, (1.45, 1.55), PAPER),
        median_of(control, plain, (1, 1.45), OURS),
    )
