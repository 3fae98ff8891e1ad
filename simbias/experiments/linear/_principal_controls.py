"""What is read of the controls of principal components: frames, labels, ReLU."""

import functools

import numpy as np
import xarray as xr

from simbias.analysis.at import at
from simbias.analysis.half_time import half_time
from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import mean_of
from simbias.core import Claim
from simbias.experiments.linear._principal import (
    NAMES,
    OURS,
    exponents_in_d,
    half_times,
    own_half_times,
    variances,
)
from simbias.figures import Curves, Law, Panels, Points

AXES = ("inputs", "labels", "network", "start")
# Components of the claims on ReLU networks.
EARLY = 10


def fit_times(ds: xr.Dataset) -> xr.DataArray:
    """Time at which the excess loss of the linear part has halved."""
    gap = ((ds["columns"] - ds["optimum"]) ** 2).sum("output", skipna=False)
    weight = variances(ds).where(ds["inputs"] != "white", 1.0)
    return half_time((weight * gap).sum("component", skipna=False))


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
        mark="o",
        pooled=("start",),
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
    names={"network": NAMES},
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
