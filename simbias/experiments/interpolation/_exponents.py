"""Optimisation thresholds along the axes of a run, and how they scale."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from simbias.analysis.median_crossing import median_crossing
from simbias.analysis.power_law import power_law
from simbias.core import Estimate

# Train error over σ² at which n* is read.
LEVELS = {0.01: "0.01 σ²", 0.5: "σ²/2"}
# Against which n* is looked at, and how that is written.
AGAINST = {"d": "d", "m": "m", "scale": "λ", "sigma": "σ"}


class Exponent(NamedTuple):
    """p of n* ∝ qᵖ with its 95 % interval, fitted over the values `over` of q."""

    estimate: Estimate
    over: tuple[float, ...]


def exponents(errors: xr.Dataset) -> dict[tuple[str, float, str], Exponent]:
    """Exponents by axis of several values, level, and point of the other axes.

    Fitted over the values whose n* lies inside the grid; NaN for fewer than two.
    """
    found = {}
    for axis in AGAINST:
        if errors.sizes.get(axis, 1) < 2:
            continue
        others = [k for k in AGAINST if k in errors.dims and k != axis]
        for label, part in points(errors["train_risk"], others):
            for level in LEVELS:
                found[axis, level, label] = _exponent(part, level, axis)
    return found


def _exponent(part: xr.DataArray, level: float, axis: str) -> Exponent:
    q = [
        float(v)
        for v in np.sort(part[axis].values)
        if median_crossing(part.sel({axis: v}), level).is_bracketed
    ]
    if len(q) < 2:
        nothing = Estimate(np.nan, -np.inf, np.inf, "fewer than two n* on the grid")
        return Exponent(nothing, tuple(q))
    return Exponent(power_law(part.sel({axis: q}), level, along=axis), tuple(q))


def points(values: xr.DataArray, axes: list[str]) -> list[tuple[str, xr.DataArray]]:
    """Every point of some axes, with its name."""
    if not axes:
        return [("", values)]
    stacked = values.stack(point=axes)
    out = []
    for i in range(stacked.sizes["point"]):
        part = stacked.isel(point=i)
        at = [f"{AGAINST[k]} = {part[k].item():g}" for k in axes]
        out.append((", ".join(at), part.drop_vars(["point", *axes])))
    return out
