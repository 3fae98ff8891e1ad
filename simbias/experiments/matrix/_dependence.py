"""On which factors each bias depends, and whether width or depth matters."""

import numpy as np
import xarray as xr

from simbias.analysis.effects import member_effects
from simbias.analysis.estimates import estimates
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.parts import with_axes
from simbias.analysis.variance_shares import variance_shares
from simbias.experiments.matrix._rows import ROWS
from simbias.experiments.matrix._settings import AXES, EVERY, FACTORS, parsed

_CELL = ("setting", "flow.optimiser")


def is_full(ds: xr.Dataset) -> bool:
    """Whether the result has every setting, for a decomposition."""
    return {*EVERY} <= {*map(str, np.ravel(ds["setting"].values))}


def scalars(ds: xr.Dataset) -> xr.DataArray:
    """The number of every network, over bias, setting, optimiser and seed."""
    ds = with_axes(ds, AXES)
    return member_effects(ds, ROWS, "bias", "setting")["scalar"]


def dependence(ds: xr.Dataset) -> xr.Dataset:
    """Shares of the variance of each bias, see `variance_shares`.

    Over `bias` and `source`: the inputs, the activation, the shape, the initialisation
    ("start"), the optimiser, each pair of them, "higher orders" and the seed.  Cells in
    which a bias is undefined, or in which its task is not learned, are excluded.

    Raises:
        ValueError: unless the result has all settings.
    """
    if not is_full(ds):
        raise ValueError("the decomposition needs all settings: preset='paper'")
    found = scalars(ds).sel(setting=[*EVERY]).stack(cell=_CELL)
    settings = [parsed(str(one)) for one in found["setting"].values]
    levels = {k: [getattr(one, k) for one in settings] for k in FACTORS}
    levels["optimiser"] = [str(one) for one in found["flow.optimiser"].values]
    found = found.reset_index("cell").drop_vars(_CELL)
    names = found["bias"]
    out = [variance_shares(found.sel(bias=k, drop=True), levels) for k in names.values]
    return xr.concat(out, names)


def wide_less_deep(ds: xr.Dataset, wide: str = "wide") -> xr.DataArray:
    """The number of the wide network minus that of the deep one, seed by seed.

    Both have the same sample.  A pair counts if both learn the task; the value of a
    seed is the mean over pairs of settings and over optimisers.

    Returns:
        Over `bias` and `seed`; NaN without a pair.
    """
    found = scalars(ds)
    texts = [*map(str, found["setting"].values)]
    twins = {k: k.replace(f" {wide} ", " deep ") for k in texts if f" {wide} " in k}
    twins = {k: v for k, v in twins.items() if v in texts}
    a, b = (found.sel(setting=[*names]) for names in (twins, twins.values()))
    return (a - b.assign_coords(setting=a["setting"])).mean(_CELL)


def paired_differences(ds: xr.Dataset, wide: str = "wide") -> xr.Dataset:
    """Mean of `wide_less_deep` and its interval, for each bias."""
    return estimates(mean_interval, wide_less_deep(ds, wide), over=("seed",))
