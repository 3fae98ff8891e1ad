"""Orthogonal data: number of directions at the end, by width and initialisation scale.

Two neurons are enough for the interpolator of least norm: one is active on all positive
samples, the other on all negative samples.  The flow from a small initialisation finds
them if they exist at initialisation.  For this m must be of the order of 2ⁿ. With fewer
neurons several share a sign.  How many is an open question; here they are counted for
each m and λ.

`width` counts directions (2°) with more than 1 % of the mass.  Neurons that miss only a
small label are rivals of the fastest one.  Their mass vanishes only like λ^(2(1 − ρ)),
see `oracle`.  With labels N(0, 1) λ = 1e-40 is not small enough for the theorem; with
labels ±1 it is.  The published run has n = 75, d = 150 and labels of a teacher, and the
preset `paper` has that size.  The published inputs are Gaussian and not exactly
orthogonal: `--cell.inputs gaussian`.

Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939, theorem 1;
the count for m = poly(n) is an open question of Boursier & Flammarion (2024).
"""

from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.orthogonality.orthogonal import Inputs, Labels, orthogonal
from simbias.experiment_presets import presets
from simbias.experiments._draws import starts
from simbias.figures import Law, Panels, Points
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import (
    EffectiveWidth,
    EffectiveWidthEntropy,
    ParameterNorm,
    TrainRisk,
)
from simbias.networks import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.minimum_norm import minimum_norm
from simbias.theory.sequential_fit import sequential_fit

PAPER = "Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939, theorem 1"
LEAST_TIME = 1600.0
AXES = ("labels", "m", "scale")
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
# Mean squared error of a network that interpolates.
FITTED = 1e-6
# Of the mass: what a direction must hold to be counted.
SHARE = 1e-2
_LABELS = {
    "random": "labels N(0, 1)",
    "signs": "labels ±1",
    "teacher": "labels of a teacher",
}


def make(
    key: PRNGKeyArray,
    *,
    n: int = 8,
    d: int = 16,
    m: int = 200,
    labels: Labels = "random",
    inputs: Inputs = "axes",
    scale: Real = 1e-40,
) -> tuple[Dataset, AbstractNetwork]:
    """Orthogonal inputs of norm √d, or Gaussian ones, and a balanced network.

    Args:
        key: random key.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        labels: law of the labels.
        inputs: law of the inputs.
        scale: scale of the initial weights.
    """
    key_data, key_network = jax.random.split(key)
    data = orthogonal(key_data, n=n, d=d, labels=labels, inputs=inputs, n_test=1)
    return data, balanced(key_network, m=m, d=d, scale=scale)


experiment = presets(
    Experiment(
        name="orthogonal",
        make=make,
        cell={
            "labels": ("random", "signs"),
            "m": (16, 64, 256, 1024),
            "scale": (1e-6, 1e-40),
        },
        seeds=10,
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=(0.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0),
        measures={
            "train_risk": TrainRisk(),
            "parameter_norm": ParameterNorm(),
            "width": EffectiveWidth(angle=2.0, share=SHARE),
            "width_entropy": EffectiveWidthEntropy(),
        },
    ),
    # With labels of one size, λ is small enough for the theorem.
    smoke={
        "cell": {"n": 3, "d": 4, "m": 64, "labels": "signs", "scale": 1e-40},
        "seeds": 4,
    },
    paper={
        "cell": {
            "n": 75,
            "d": 150,
            "labels": "teacher",
            "m": (200, 1000, 5000, 20_000),
            "scale": (1e-6, 1e-20, 1e-40),
        },
        "seeds": 20,
    },
)


def oracle(ds: xr.Dataset) -> xr.Dataset:
    """What theory predicts for every network, over the axes of the grid and the seeds.

    `excess`: ½‖θ‖² at the end over the least.  `law_excess` and `law_width`: the same,
    and the directions with more than 1 % of the mass, in the limit λ → 0 from this
    initialisation (`sequential_fit`).  `signs`: number of signs of the labels.
    `rival`: expected mass of a rival.  NaN if the quantity needs orthogonal inputs and
    the inputs are not orthogonal.

    A rival misses only the smallest sample of its sign.  It grows at ρ times the rate
    of the fastest neuron, ρ² = 1 − min y²/Σy².  When the fastest neuron fits the sign,
    the rival has λ^(2(1 − ρ)) of its mass, up to a factor.  `rival` is the larger value
    of the two signs; 0 if each sign has one sample.
    """
    axes = [str(k) for k in ds["status"].dims]
    last = ds["parameter_norm"].isel(time=-1).transpose(*axes)
    found = np.full((len(_SAID), *last.shape), np.nan)
    is_there = xr.apply_ufunc(np.isfinite, last)
    for i, cell, data, network in starts(ds, experiment("smoke"), is_there):
        # A label of 0 is fitted by the zero function and has no sign.
        signs = len({*np.sign(np.asarray(data.y))[:, 0].tolist()} - {0.0})
        rival = _rival(data, cell["scale"])
        found[(slice(None), *i)] = np.nan, np.nan, np.nan, signs, rival
        if cell["inputs"] != "gaussian":
            found[(slice(3), *i)] = _limits(data, network, float(last.values[i]))
    return xr.Dataset(
        {k: (axes, v) for k, v in zip(_SAID, found, strict=True)},
        {k: ds[k].values for k in axes},
    )


_SAID = ("excess", "law_excess", "law_width", "signs", "rival")


def _limits(data: Dataset, network: Any, norm: float) -> tuple[float, float, float]:
    with exact_numerics():
        least = float(minimum_norm(data).half_squared_norm)
    mass = sequential_fit(data, np.asarray(network.w), np.asarray(network.a)[:, 0]).mass
    width = int(np.sum(mass > SHARE * mass.sum()))
    return norm / least, float(mass.sum() / least), float(width)


def _rival(data: Dataset, scale: float) -> float:
    y = np.asarray(data.y)[:, 0]
    groups = [g for g in (y[y > 0], y[y < 0]) if len(g) > 1]
    rho = [float(np.sqrt(1 - np.min(g**2) / (g @ g))) for g in groups]
    return max((scale ** (2 * (1 - r)) for r in rho), default=0.0)


def _limit(name: str) -> Law:
    """The law of λ → 0, median over networks of all λ; NaN for fewer than three."""

    def median(part: xr.Dataset) -> xr.DataArray:
        others = [k for k in part[name].dims if k != "m"]
        is_enough = part[name].notnull().sum(others) >= 3
        return part[name].median(others).where(is_enough)

    return Law(median, "law of λ → 0", colour="black")


def _excess_of_interpolators(part: xr.Dataset) -> xr.DataArray:
    """NaN for a network that does not fit its sample: its norm is of another f."""
    return part["excess"].where(part["train_risk"].isel(time=-1) < FITTED)


figure = Panels(
    Points(
        lambda part: part["width"].isel(time=-1),
        colour="scale",
        title="directions with more than 1 % of the mass",
        laws=(_limit("law_width"), Law(2, line=":", colour="black")),
    ),
    Points(
        _excess_of_interpolators,
        colour="scale",
        title="½‖θ‖² over the least, of interpolators",
        laws=(_limit("law_excess"), Law(1, line=":", colour="black")),
    ),
    rows="labels",
    x="m",
    xlabel="neurons m",
    xscale="log",
    names={"labels": _LABELS, "scale": "λ"},
    of=lambda ds: ds.merge(oracle(ds)),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Theorem 1, at the smallest λ and the largest m, if that exceeds 4·2ⁿ."""
    ds = at(at(ds.merge(oracle(ds)), "m", max), "scale", min)
    return [claim for law in ds["labels"].values for claim in _of(ds.sel(labels=law))]


def _of(ds: xr.Dataset) -> list[Claim]:
    n, m, scale, law = (ds[name].item() for name in ("n", "m", "scale", "labels"))
    last, of = ds.isel(time=-1), f"{_LABELS[law]}, n = {n}, m = {m}, λ = {scale:g}"
    more = last["width"] - last["signs"]
    # Where λ is small enough for the sample at hand, see `oracle`.
    few = more.where(last["rival"] < SHARE, drop=True)
    error, norm = "mean squared error, largest", "½‖θ‖² over that of the least norm"
    off = {"tolerance": TOLERANCE}
    return Claims({"m ≥ 4·2ⁿ": m >= 4 * 2**n}).rows(
        largest_of(f"{error}, {of}", last["train_risk"], (0.0, FITTED), PAPER, **off),
        largest_of(
            f"{norm}, largest, {of}", last["excess"], (0.999, 1.01), PAPER, **off
        ),
        largest_of(f"directions beyond one per sign, most, {of}", more, (0, 0), PAPER),
        largest_of(f"the same where rivals are < 1 %, {of}", few, (0, 0), PAPER),
    )
