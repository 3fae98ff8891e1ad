"""Distributional simplicity bias: means, then covariances, then higher moments.

The classes are uniform in a rectangle of two inputs and Gaussian in the others.  There
are three directions. μ is optimal if only the means are known. Σ⁻¹μ is optimal for
Gaussian classes with the same means and covariances.  The third is the optimum of an
erf neuron for the whole law.  Online SGD turns to them in this order.

The control has Gaussian classes with the same means and covariances.  By Stein's lemma
the flow stays in the span of μ and Σ⁻¹μ, so the third direction is not found.

Reference: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567, section 3; numbers of
the law, the Gaussian input and the exact path are ours.
"""

import dataclasses
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import difference_of, mean_of
from simbias.core import Claim, Dataset, Experiment, Real
from simbias.datasets.moments.rectangular import Within, rectangular
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import FeatureOverlaps
from simbias.networks import Mlp, erf
from simbias.theory.erf_neuron import optimum, path
from simbias.validation.values import not_negative

PAPER = "arXiv:2211.11567"
MEANS, DEVIATIONS = (1.5, 2.0, 1.0), (1.0, 2.0, 1.0)
# The last is the part of the third outside the span of the first two.
PREDICTORS = ("mean", "covariance", "whole law", "whole law alone")
AXES = ("within",)
# What the claims are about.
LEAST_TIME = 500.0


def make(
    key: PRNGKeyArray,
    *,
    within: Within = "rectangle",
    n: int = 100,
    d: int = 6,
    scale: Real = 1e-3,
) -> tuple[Dataset, Mlp]:
    """Rows of the law, and a neuron erf(w·x/√2), w ~ N(0, scale²).

    Args:
        key: random key.
        within: "rectangle" or "gaussian", the law of both classes.
        n: samples of the data set, which is not used for training: batches are fresh.
        d: inputs, 3 or more; only three have a mean.
        scale: standard deviation of the initial weights.
    """
    not_negative("scale", scale)
    key_data, key_network = jax.random.split(key)
    data = rectangular(
        key_data, n=n, d=d, means=MEANS, deviations=DEVIATIONS, within=within
    )
    third = jnp.zeros(d, jnp.float64)
    third = third.at[: len(MEANS)].set(jnp.asarray(optimum(MEANS, DEVIATIONS)))
    plane = jnp.linalg.qr(data.features.T)[0]
    alone = third - plane @ (plane.T @ third)
    features = [*data.features, third, alone / jnp.linalg.norm(alone)]
    weights = scale * jax.random.normal(key_network, (1, d), jnp.float64)
    one = jnp.ones((1, 1), jnp.float64)
    network = Mlp((weights, one), (None, None), erf, frozen=("weights.1",))
    return dataclasses.replace(data, features=jnp.stack(features)), network


experiment = presets(
    Experiment(
        name="distributional",
        make=make,
        cell={"within": get_args(Within)},
        seeds=20,
        flow=Descent(rate=0.05, batch=100, sampling="fresh"),
        loss=half_mse,
        times=log_times(0.05, 600.0, 80),
        measures={"overlaps": FeatureOverlaps("weights.0", PREDICTORS)},
    ),
    smoke={"seeds": 2, "times": log_times(0.05, 50.0, 30)},
    paper={
        "cell": {"d": 100},
        "seeds": 100,
        "flow": Descent(rate=0.005, batch=100, sampling="fresh"),
        "times": log_times(0.005, 2000.0, 120),
    },
)


def peaks(ds: xr.Dataset) -> xr.Dataset:
    """Time and value of the maximum of every overlap, over records after the first."""
    later = ds["overlaps"].isel(time=slice(1, None))
    is_known = later.notnull().all("time")
    later = later.fillna(-1)
    time = later.idxmax("time").where(is_known)
    return xr.Dataset({"time": time, "overlap": later.max("time").where(is_known)})


def exact_overlaps(part: xr.Dataset) -> xr.DataArray:
    """Overlaps of the flow on the population loss, from w = 0, at times above 0."""
    times = tuple(float(t) for t in part["time"].values if t > 0)
    sides = 2 if part["within"] == "rectangle" else 0
    w = path((0.0, *times), MEANS, DEVIATIONS, sides)[1:]
    mean, covariance = np.array(MEANS), np.array(MEANS) / np.square(DEVIATIONS)
    third = optimum(MEANS, DEVIATIONS)
    plane = np.linalg.qr(np.stack([mean, covariance], axis=1))[0]
    u = np.stack([mean, covariance, third, third - plane @ (plane.T @ third)])
    size = np.linalg.norm(w, axis=1)[:, None] * np.linalg.norm(u, axis=1)
    coords = {"time": list(times), "predictor": np.array(PREDICTORS)}
    return xr.DataArray(w @ u.T / size, coords, ("time", "predictor"))


figure = Panels(
    Curves(
        "overlaps",
        colour="predictor",
        ylabel="overlap, cos(w, predictor)",
        laws=(Law(exact_overlaps, "flow under the law itself", ":", "black"),),
    ),
    columns="within",
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel="time, updates × rate",
    xscale="log",
    names={"within": {"gaussian": "control: Gaussian"}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Order of the peaks; Gaussian classes have no third direction."""
    rectangle, gaussian = (at(ds, "within", name) for name in get_args(Within))
    return [*_of_rectangle(rectangle), *_of_gaussian(gaussian)]


def _of_rectangle(part: xr.Dataset) -> list[Claim]:
    found, out = peaks(part), []
    log_time = xr.ufuncs.log(found["time"])
    for early, late in zip(PREDICTORS, PREDICTORS[1:3], strict=False):
        after, before = (log_time.sel(predictor=k, drop=True) for k in (late, early))
        text = f"rectangle: ln τ of the {late} predictor − the same of {early}"
        source = f"{PAPER}: the order"
        out.append(difference_of(text, after, before, (0, np.inf), source))
    for name in PREDICTORS[:3]:
        text = f"rectangle: overlap with the {name} predictor at its peak"
        values = found["overlap"].sel(predictor=name)
        out.append(mean_of(text, values, (0.95, 1.0), f"{PAPER}; 0.95 ours"))
    exact = exact_overlaps(part)
    law = exact.sel(predictor="covariance").idxmax("time")
    text = "rectangle: ln τ of the covariance predictor − that of the exact flow"
    values = log_time.sel(predictor="covariance") - np.log(float(law))
    out.append(mean_of(text, values, (-0.2, 0.2), "quadrature; band ours"))
    for name in ("mean", "covariance", "whole law alone"):
        end = float(exact.sel(predictor=name).isel(time=-1))
        text = f"rectangle: overlap with {name} at the end ({end:.3f} exact)"
        values = part["overlaps"].sel(predictor=name).isel(time=-1)
        band = (end - 0.02, end + 0.02)
        out.append(mean_of(text, values, band, "quadrature; ± 0.02 ours"))
    return out


def _of_gaussian(part: xr.Dataset) -> list[Claim]:
    later = part["overlaps"].sel(predictor="whole law alone")
    values = later.where(part["time"] >= 1).mean("time")
    values = values.where(later.notnull().all("time"))
    end = part["overlaps"].sel(predictor="covariance").isel(time=-1)
    text = "gaussian: overlap with the whole law alone, mean over t ≥ 1"
    source = "0 by Stein's lemma; ± 0.01 ours"
    alone = mean_of(text, values, (-0.01, 0.01), source)
    text = "gaussian: overlap with the covariance predictor at the end"
    return [alone, mean_of(text, end, (0.99, 1.0), "1 by Stein's lemma; 0.99 ours")]
