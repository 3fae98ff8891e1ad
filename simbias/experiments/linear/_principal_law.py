"""What is read of the law of the columns: times, agreement, its error."""

import functools
from collections.abc import Callable

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from simbias.analysis.rank_correlation import rank_correlation
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import mean_of
from simbias.core import Claim
from simbias.experiments.linear._principal import (
    OURS,
    RATE,
    exponents_in_d,
    half_times,
    law_of_columns,
    variances,
)
from simbias.figures import Curves, Law, Panels

AXES = ("depth", "m", "start")
# Times in units of 1/(L d_1): the law is tested up to EARLY, the spread at MIDDLE.
EARLY, MIDDLE = 0.4, 6.0


def law_error(ds: xr.Dataset) -> xr.DataArray:
    """‖W − law‖²/‖law − W(0)‖² at early times."""
    law = law_of_columns(ds, RATE)
    size = lambda v: (v**2).sum(["output", "component"], skipna=False)
    early = (ds["time"] > 0) & (ds["time"] * ds["depth"] <= EARLY)
    return (size(ds["columns"] - law) / size(law - law.isel(time=0))).where(early)


def spread(ds: xr.Dataset) -> xr.DataArray:
    """Standard deviation over the networks on one sample, by time and component."""
    return xr.ufuncs.sqrt(ds["columns"].var("start", ddof=1).sum("output"))


def middle(values: xr.DataArray) -> xr.DataArray:
    """Values at the record nearest to the time MIDDLE/L."""
    return values.sel(time=MIDDLE / values["depth"], method="nearest")


def _error(ds: xr.Dataset) -> xr.DataArray:
    """Error of the early law, mean over networks; a single matrix has none."""
    error = law_error(ds).mean("start").max("time").mean("seed")
    return error.where(ds["depth"] > 1)


def _law_of_error(ds: xr.Dataset) -> xr.DataArray:
    return _error(ds).isel(m=0) * ds["m"][0] / ds["m"]


def _law_of_half_times(ds: xr.Dataset) -> xr.DataArray:
    kept = xr.ufuncs.log1p(-RATE * ds["depth"] / ds["component"])
    return -np.log(2) / kept * RATE


def _of_widest(x: Callable[[xr.Dataset], ArrayLike]) -> Callable:
    """The largest m, with values along the components."""
    return lambda ds: ds.isel(m=-1).assign_coords(component=np.asarray(x(ds)))


_by_depth = functools.partial(
    Curves, colour="depth", mark="o", pooled=("start",), yscale="log"
)
figure = Panels(
    _by_depth(
        half_times,
        x="component",
        of=_of_widest(lambda ds: 1 / variances(ds)),
        title="time to half, m = {m}; dashed: law",
        xlabel="1/d_j",
        xscale="log",
        laws=(Law(_law_of_half_times),),
    ),
    _by_depth(
        lambda ds: middle(spread(ds).mean("seed")),
        x="component",
        title="spread, m = {m}; dashed: start",
        xlabel="component j",
        of=_of_widest(lambda ds: np.arange(1, ds.sizes["component"] + 1)),
        laws=(Law(lambda ds: spread(ds).mean("seed").isel(time=0)),),
    ),
    _by_depth(
        _error,
        x="m",
        title="squared error of the early law; dotted: 1/m",
        xlabel="width m",
        xscale="log",
        ticks=True,
        laws=(Law(_law_of_error, line=":"),),
    ),
    Curves(
        lambda ds: ds["scale_matrices"].mean(["seed", "start"]).where(ds["depth"] > 1),
        colour="depth",
        line="side",
        of=lambda ds: ds.isel(m=-1),
        title="‖A − 1‖, ‖B − 1‖, m = {m}",
    ),
    names={"depth": "L"},
    legend=8,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Error of the law, times, and agreement, by depth; means over samples."""
    rows = []
    for depth in ds["depth"].values.tolist():
        part = ds.sel(depth=depth)
        wide, name = part.isel(m=-1), f"L = {depth:d}, m = {int(ds['m'][-1])}"
        if depth > 1:
            text = f"L = {depth}: squared error of the early law, exponent in m"
            row = mean_of(text, exponents_in_m(part), (-1.1, -0.9), OURS)
            far = f"{name}: way of B over way of A"
            rows += [
                row.given(part.sizes["m"] > 1, "two widths"),
                mean_of(far, way_of_b(wide), (0, 0.5), OURS),
            ]
        rho = rank_correlation(spread(wide), "component")
        half = f"{name}: time to half of wⱼ, exponent in d_j"
        text = f"{name}: rank correlation of the spread of the nets with j"
        rows += [
            mean_of(half, exponents_in_d(wide), (-1.1, -0.9), OURS),
            mean_of(f"{text}, t = {MIDDLE:g}/L", middle(rho), (0.8, 1.0), OURS),
            mean_of(f"control, start: {text}", rho.isel(time=0), (-0.3, 0.3), "ours"),
        ]
    return rows


def exponents_in_m(part: xr.Dataset) -> xr.DataArray:
    """Slope of ln error on ln m, of every sample."""
    error = xr.ufuncs.log(law_error(part).mean("start", skipna=False).max("time"))
    return slope_in_log(error, "m")


def way_of_b(part: xr.Dataset) -> xr.DataArray:
    """Total change of B over training, divided by that of A."""
    moved = abs(part["scale_matrices"].diff("time")).sum("time", skipna=False)
    return (moved.sel(side="B") / moved.sel(side="A")).mean("start", skipna=False)
