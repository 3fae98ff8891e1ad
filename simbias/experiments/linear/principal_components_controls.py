"""Principal components, controls: what their order needs, and what it does not.

If inputs and initialisation are rotated together, training is the same: it does not
depend on the axes.  On white inputs no component comes first.  Shuffled labels lie on
small components as much as on large ones, so they are learned more slowly, but not on
white inputs.  A ReLU network follows the order early, measured on the product of its
matrices.

Reference: Hacohen & Weinshall (2022), JMLR 23(155), sections 3 and 4.
"""

import functools
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.first_passage import first_passage
from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets import principal_classes
from simbias.experiment_presets import presets
from simbias.experiments.linear._principal import (
    PAPER,
    check_components,
    exponents_in_d,
    half_times,
    isotropic_layers,
    own_half_times,
    variances,
)
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import PrincipalColumns, ProductColumns
from simbias.networks import DeepLinear, Mlp
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Inputs = Literal["raw", "rotated", "white"]
Labels = Literal["true", "shuffled"]
Network = Literal["linear", "relu"]
AXES = ("inputs", "labels", "network", "start")
OURS = f"{PAPER}; band ours"
RATE = 0.1
_NAMES = {"linear": "linear", "relu": "ReLU"}
# Components of the claims on ReLU networks.
EARLY = 10


def make(
    key: PRNGKeyArray,
    *,
    inputs: Inputs = "raw",
    labels: Labels = "true",
    network: Network = "linear",
    m: int = 128,
    start: Index = 0,
    n: int = 40,
    d: int = 20,
    classes: int = 2,
    exponent: Real = 1.0,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample in one of three frames, and a network of two layers.

    Args:
        key: of the sample and of the networks.
        inputs: "raw"; "rotated" into the principal components, with the first layer; or
            "white", every component divided by its standard deviation.
        labels: "true", or "shuffled" among the samples.
        network: "linear", or "relu", with a first layer √2 times as large.
        m: width of the hidden layer.
        start: number of the network; times are means over several on one sample.
        n: samples, d or more.
        d: inputs, 3 or more.
        classes: K, outputs.
        exponent: variances are d_j = j^−exponent.
    """
    one_of("inputs", inputs, get_args(Inputs))
    one_of("labels", labels, get_args(Labels))
    one_of("network", network, get_args(Network))
    positive_integer("m", m)
    check_components(d)
    key_data, key_shuffle, key_start = jax.random.split(key, 3)
    data = principal_classes(key_data, n=n, d=d, classes=classes, exponent=exponent)
    first, second = isotropic_layers(
        jax.random.fold_in(key_start, start), (d, m, classes)
    )
    x, y, frame = data.x, data.y, data.features
    if inputs == "rotated":
        x, first, frame = x @ frame.T, first @ frame.T, jnp.eye(d)
    elif inputs == "white":
        along = x @ frame.T
        x = along / jnp.sqrt(jnp.mean(along**2, axis=0))[None] @ frame
    if labels == "shuffled":
        y = jax.random.permutation(key_shuffle, y)
    data = Dataset(x, y, data.weight, mean=y, features=frame)
    if network == "linear":
        return data, DeepLinear((first, second))
    return data, Mlp((2**0.5 * first, second), (None, None))


_TIMES = tuple(round(RATE * s, 10) for s in (*range(20), *range(20, 201, 4)))

experiment = presets(
    Experiment(
        name="principal_components_controls",
        make=make,
        cell={
            "inputs": get_args(Inputs),
            "labels": get_args(Labels),
            "network": get_args(Network),
            "start": tuple(range(5)),
        },
        seeds=12,
        shared=("inputs", "labels", "network", "start"),
        flow=Descent(rate=RATE),
        loss=half_mse,
        times=_TIMES,
        measures={"columns": PrincipalColumns(), "product": ProductColumns()},
        final={"optimum": PrincipalColumns(of_target=True)},
    ),
    smoke={"cell": {"m": 8, "start": (0, 1), "network": "linear"}, "seeds": 1},
    paper={"cell": {"m": 1024}, "seeds": 50},
)


def fit_times(ds: xr.Dataset) -> xr.DataArray:
    """Time at which the excess loss of the linear part has halved."""
    gap = ((ds["columns"] - ds["optimum"]) ** 2).sum("output", skipna=False)
    weight = variances(ds).where(ds["inputs"] != "white", 1.0)
    loss = xr.ufuncs.log((weight * gap).sum("component", skipna=False))
    return first_passage(loss.isel(time=0) - loss, float(np.log(2)))


def times_of_columns(part: xr.Dataset) -> xr.DataArray:
    """Time at which a column is half of the way; for ReLU, of its own change."""
    if part["network"].item() == "relu":
        return own_half_times(part)
    return half_times(part)


def _median_of(inputs: str, part: xr.Dataset) -> xr.DataArray:
    times = times_of_columns(at(part, "inputs", inputs))
    return times.median(["seed", "start"])


def _in_proportion(part: xr.Dataset) -> xr.DataArray:
    x = part["component"]
    return x * float(_median_of("raw", part)[0]) / x[0]


figure = Panels(
    Curves(
        lambda part: times_of_columns(part).where(part["inputs"] != "rotated"),
        of=lambda ds: at(ds, "labels", "true").assign_coords(
            component=1 / variances(ds).values
        ),
        x="component",
        colour="inputs",
        pooled=("start",),
        mark="o",
        title="time to half of wⱼ; dashed: ∝ 1/d_j",
        xlabel="1/d_j of the raw inputs",
        xscale="log",
        yscale="log",
        laws=(
            Law(functools.partial(_median_of, "rotated"), "rotated", line="x"),
            Law(_in_proportion),
        ),
    ),
    Points(
        fit_times,
        x="inputs",
        colour="labels",
        first_colour=3,
        is_joined=False,
        title="time to half of the linear part's loss",
        xlabel="",
    ),
    rows="network",
    names={"network": _NAMES},
    legend=6,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Whitening, shuffled labels, ReLU; means over samples."""
    rows = []
    for kind in ds["network"].values.tolist():
        parts = [at(ds.sel(network=kind), "inputs", k) for k in ("raw", "white")]
        rows += [_component_order(at(part, "labels", "true")) for part in parts]
        if kind == "linear":
            rows += [_shuffled(part) for part in parts]
    return rows


def _component_order(part: xr.Dataset) -> Claim:
    """The exponent in d_j of a linear network; the early order of a ReLU network."""
    inputs = part["inputs"].item()
    if part["network"].item() == "linear":
        text = f"linear, {inputs} inputs: time to half of wⱼ, exponent in the raw d_j"
        middle = -1.0 if inputs == "raw" else 0.0
        band = (middle - 0.1, middle + 0.1)
        return mean_of(text, exponents_in_d(part), band, OURS)
    times = own_half_times(part).isel(component=slice(EARLY))
    rho = rank_correlation(times.mean("start", skipna=False), "component")
    text = f"ReLU, {inputs} inputs: rank correlation of time and j, j ≤ {EARLY}"
    band = (0.8, 1.0) if inputs == "raw" else (-0.3, 0.3)
    return mean_of(text, rho, band, OURS)


def _shuffled(part: xr.Dataset) -> Claim:
    """Log ratio of the times for shuffled and true labels."""
    times, inputs = xr.ufuncs.log(fit_times(part)), part["inputs"].item()
    slower = at(times, "labels", "shuffled") - at(times, "labels", "true")
    band = (0.1, np.inf) if inputs == "raw" else (-0.1, 0.1)
    text = f"linear, {inputs} inputs: ln time to fit, shuffled labels less true"
    return mean_of(text, slower.mean("start", skipna=False), band, OURS)
