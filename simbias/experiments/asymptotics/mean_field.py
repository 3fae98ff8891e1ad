"""Infinitely many neurons: two networks of width m and 2m, on one sample.

With aⱼ and wⱼ of order 1/√m a two-layer network is a mean over its neurons, and so is
the velocity of each.  As m → ∞ the neurons follow a flow of measures, and the output at
any time has a limit.  A network of m neurons is a sample of it, so that its distance
from the limit falls like m^(−1/2), as in a central limit theorem.

The limit itself is not needed to see this, but in the plane it can be computed: there
the measure lives on the circle.  Two neurons with |a| = |w| and one direction move
alike, whatever their sizes.  So at m = ∞ each angle has one neuron of each sign, of the
mean mass.  The start `circle` has m equispaced angles, and the distance of m and 2m
angles is the error of this quadrature.

From one seed the networks of all widths
have the same training set, and the neurons of a narrow one are the first of a wide one
at time 0.  The distance between the outputs of m and 2m neurons must fall like m^(−1/2)
too, at every time.

The control is the default initialisation of torch, in which aⱼ is of order 1/√m and wⱼ
of order 1.  Then outputs at time 0 are random and of order 1 at every width.

Reference: Chizat & Bach (2018), arXiv:1805.09545, and Mei, Montanari & Nguyen (2018),
arXiv:1804.06561, for the limit; the exponent is that of the central limit theorem of
Rotskoff & Vanden-Eijnden (2018), arXiv:1805.00915.
"""

import dataclasses
import math
from typing import Literal

import jax
import jax.numpy as jnp
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, mean_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.figures import AxisEnd, Curves, Law, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import OutputsAndTargets, TrainRisk
from simbias.networks import TwoLayer
from simbias.networks.two_layer_init import INITIAL_LAWS

AXES = ("m", "initial")
LAW = "Rotskoff & Vanden-Eijnden (2018), arXiv:1805.00915; tolerance ours"
QUADRATURE = "derived: the measure on the circle; tolerance ours"
CONTROL = "derived: random outputs of order 1; tolerance ours"
END = 100.0
CIRCLE = "circle"
NAMES = {"balanced": "mean field", "standard": "torch", CIRCLE: "circle"}
Start = Literal["balanced", "standard", "circle"]


def make(
    key: PRNGKeyArray,
    *,
    m: int,
    n: int = 12,
    sigma: Real = 0.3,
    scale: Real = 1.0,
    initial: Start = "balanced",
    points: int = 64,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise in the plane; outputs are seen on a circle.

    Args:
        key: random key.
        m: width: neurons of the hidden layer.
        n: samples to train on.
        sigma: standard deviation of the noise of the targets.
        scale: scale of the initial weights.
        initial: law of the initial weights; "circle" for 2m neurons of one size at m
            equispaced angles.
        points: equispaced angles at which outputs are compared.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=2, sigma=sigma, n_test=1)
    angle = 2 * math.pi * jnp.arange(points, dtype=jnp.float64) / points
    x = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    y = x @ data.features.T
    grid = Dataset(x, y, jnp.ones(points, jnp.float64), y, data.features)
    if initial == "circle":
        network = on_circle(m, scale)
    else:
        network = INITIAL_LAWS[initial](key_network, m=m, d=2, scale=scale)
    return dataclasses.replace(data, others={"grid": grid}), network


def on_circle(m: int, scale: Real) -> TwoLayer:
    """A neuron of each sign at m angles, with the mean mass E|w|² of `balanced`."""
    angle = 2 * math.pi * (jnp.arange(m, dtype=jnp.float64) + 0.5) / m
    w = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    size = scale / jnp.sqrt(jnp.float64(m))
    a = size * jnp.ones((m, 1), jnp.float64)
    return TwoLayer(size * jnp.concatenate([w, w]), jnp.concatenate([a, -a]))


experiment = presets(
    Experiment(
        name="mean_field",
        make=make,
        cell={
            "m": (25, 50, 100, 200, 400),
            "initial": ("balanced", "standard", "circle"),
        },
        seeds=40,
        shared=("m", "initial"),
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=(0.0, 0.3, 1.0, 3.0, 10.0, 30.0, END),
        measures={"outputs": OutputsAndTargets(), "train_risk": TrainRisk()},
    ),
    smoke={"cell": {"m": (10, 20, 40)}, "seeds": 3, "times": (0.0, 1.0, 10.0)},
    paper={"cell": {"m": (25, 50, 100, 200, 400, 800, 1600, 3200)}, "seeds": 100},
)


def distances(ds: xr.Dataset) -> xr.DataArray:
    """Root mean square over the circle of f_m − f_2m, at each m but the last.

    Raises:
        ValueError: unless each width is twice the one before.
    """
    m = ds["m"].values
    seen = ds["outputs"].sel(curve="network", drop=True)
    narrow, wide = seen.isel(m=slice(None, -1)), seen.isel(m=slice(1, None))
    apart = narrow - wide.assign_coords(m=m[:-1])
    return ((apart**2).mean("point") ** 0.5).where(
        xr.DataArray(m[1:] == 2 * m[:-1], {"m": m[:-1]}, ("m",))
    )


def infinite(ds: xr.Dataset, time: float) -> xr.DataArray:
    """Exponents in m of the distance between outputs of m and of infinitely many."""
    seen = at(ds["outputs"].sel(curve="network", drop=True), "time", time)
    wide = at(at(seen, "initial", CIRCLE), "m", max)
    apart = at(seen, "initial", "balanced") - wide.drop_vars("m")
    return slope_in_log(xr.ufuncs.log((apart**2).mean("point")) / 2, "m")


def law(part: xr.Dataset) -> xr.DataArray:
    """m^(−1/2) through the first median of the last time."""
    seen = distances(part).isel(time=-1).median("seed")
    return seen[:1].sum() * (seen["m"] / seen["m"][:1].sum()) ** -0.5


def limit(ds: xr.Dataset) -> xr.DataArray:
    """The train error at m = ∞."""
    return at(at(ds["train_risk"], "initial", CIRCLE), "m", max)


def late(ds: xr.Dataset) -> xr.Dataset:
    """Three of the times, along an axis with colours of its own."""
    times = [t for t in (1.0, 3.0, END) if t in ds["time"]]
    return ds.sel(time=times).rename(time="moment")


figure = Panels(
    Curves(
        lambda ds: distances(ds),
        x=lambda ds: distances(ds)["m"],
        colour="time",
        is_graded=True,
        spread="none",
        facet="initial",
        xscale="log",
        yscale="log",
        ylim=(1e-5, 0.5),
        xlabel="width m",
        ylabel="distance of outputs, m to 2m",
        laws=(Law(law, "m^(−1/2)"),),
    ),
    Curves(
        lambda ds: at(ds["train_risk"], "initial", "balanced"),
        x="m",
        of=late,
        colour="moment",
        first_colour=7,
        mark="o",
        xscale="log",
        xlabel="width m",
        ylabel="train error, mean field",
        beyond=(AxisEnd(limit, "∞"),),
    ),
    names={"time": "t", "moment": "error at t", "initial": NAMES},
    across=2,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Exponents in the width, means over seeds, at three times; and of the control."""
    exponents, rows = slope_in_log(xr.ufuncs.log(distances(ds)), "m"), []
    for time in (0.0, 1.0, END):
        now = at(exponents, "time", time)
        for initial, text, band, source in (
            ("balanced", "exponent of the distance in m", (-0.65, -0.35), LAW),
            ("standard", "control, torch's start: the exponent", (-0.2, 0.2), CONTROL),
        ):
            seen = at(now, "initial", initial)
            rows.append(mean_of(f"{text}, t = {time:g}", seen, band, source))
    apart = distances(ds).isel(m=-1)
    mean, exact = (at(apart, "initial", k) for k in ("balanced", CIRCLE))
    for time in (1.0, END):
        text = f"m = ∞ on the circle: error of its quadrature over it, t = {time:g}"
        ratio = at(exact, "time", time) / at(mean, "time", time)
        rows.append(median_of(text, ratio, (0, 0.1), QUADRATURE))
        ends = infinite(ds, time)
        text = f"exponent in m of the distance to m = ∞, t = {time:g}"
        rows.append(mean_of(text, ends, (-0.65, -0.35), LAW))
    return Claims(
        needs={
            "three widths": ds.sizes["m"] > 2,
            f"t ≥ {END:g}": float(ds["time"][-1]) >= END,
        }
    ).rows(*rows)
