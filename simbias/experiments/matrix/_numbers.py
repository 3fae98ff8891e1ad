"""One number of a bias for every network, from the records of its training.

Each function takes the part of a result that belongs to the bias, over any axes, and
keeps the axes; functions with `staged` in the name also keep `time`.
"""

import numpy as np
import xarray as xr

from simbias.analysis.at_stage import FALL
from simbias.analysis.effects import Values
from simbias.analysis.first_passage import first_passage
from simbias.analysis.rank_correlation import rank_correlation
from simbias.analysis.slope_along import slope_along
from simbias.datasets.biases.circle_waves import FREQUENCIES
from simbias.datasets.biases.component_sum import VARIANCES

# Gap between the separations of sample and clone at which a network departs from it.
LEFT = 0.05
# The level of `learned` that counts as learned, of the rows whose task has parts.
LEVELS = {"spectral": 0.9, "principal": 0.5}


def spectral(part: xr.Dataset) -> xr.DataArray:
    """Spearman's ρ of frequency and time; waves never reached tie for last."""
    waves = part["learned"].isel(part=slice(len(FREQUENCIES)))
    time = first_passage(waves, LEVELS["spectral"])
    return rank_correlation(time.fillna(np.inf), "part")


def principal(part: xr.Dataset) -> xr.DataArray:
    """Minus the slope over the components that reach ½."""
    time = first_passage(part["learned"], LEVELS["principal"])
    y = xr.ufuncs.log(time.where(time > 0))
    return -slope_along(y, xr.DataArray(np.log(VARIANCES), dims="part"), "part")


def in_order(parts: int) -> Values:
    """−ρ between the index of a part and its share learned, for the first `parts`."""
    learned = lambda part: part["learned"].isel(part=slice(parts))
    return lambda part: -rank_correlation(learned(part), "part")


def reached(count: int, level: float) -> Values:
    """At least `count` parts reach the level."""
    most = lambda part: part["learned"].max("time")
    return lambda part: (most(part) >= level).sum("part") >= count


def low_dim(part: xr.Dataset) -> xr.DataArray:
    """Accuracy with P⊥x exchanged minus that with Px exchanged; NaN at time 0."""
    right = part["projected"].sel(score="accuracy", drop=True)
    gap = right.sel(mixed="outside", drop=True) - right.sel(mixed="inside", drop=True)
    return gap.where(part["time"] > 0)


def distributional(part: xr.Dataset) -> xr.DataArray:
    """Sign of τ₂ − τ₁, the times of departure; never is last, NaN if both are never."""
    first, second = (first_passage(gap, LEFT) for gap in _gaps(part))
    # Never is after all times, and one never is no later than another.
    order = xr.ufuncs.sign(second.fillna(1e9) - first.fillna(1e9))
    return order.where(first.notnull() | second.notnull())


def distributional_staged(part: xr.Dataset) -> xr.DataArray:
    """Gap to the clone of means minus the gap to the clone of covariances."""
    first, second = _gaps(part)
    return (first - second).where(part["time"] > 0)


def _gaps(part: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    of = lambda name: part["separation"].sel(rows=name, drop=True)
    return abs(of("real") - of("means")), abs(of("real") - of("covariances"))


def lost(name: str) -> Values:
    """1 − (r − 1)/(r(0) − 1), r a rank."""

    def values(part: xr.Dataset) -> xr.DataArray:
        rank = part[name]
        start = rank.isel(time=0, drop=True) - 1
        return 1 - (rank - 1) / start.where(start > 0)

    return values


def embeddings(part: xr.Dataset) -> xr.DataArray:
    """Minus the slope of the entropy on ln l."""
    rank = part["layer_ranks"]
    place = xr.DataArray(np.log(1 + np.arange(rank.sizes["layer"])), dims="layer")
    return -slope_along(rank, place, "layer")


def sensitivity(part: xr.Dataset) -> xr.DataArray:
    """½ − S; NaN at time 0, where f = 0."""
    return (0.5 - part["sensitivity"]).where(part["time"] > 0)


def alignment(part: xr.Dataset) -> xr.DataArray:
    """Increase since the start of training."""
    return part["alignment"] - part["alignment"].isel(time=0, drop=True)


def randomised(part: xr.Dataset) -> xr.DataArray:
    """(AUC − AUC_S)/(AUC − ½); NaN unless AUC > 0.6."""
    whole, simple = (part["auc"].isel(randomised=i, drop=True) for i in range(2))
    above = whole - 0.5
    return (whole - simple) / above.where(above > 0.1)


def information_staged(part: xr.Dataset) -> xr.DataArray:
    """μ/I; NaN unless I > 0.02 bit."""
    known, explained = _bits(part, "network"), _bits(part, "explained")
    return explained / known.where(known > 0.02)


def information(part: xr.Dataset) -> xr.DataArray:
    """μ/I at the first record where I is at least half of its largest value."""
    known = _bits(part, "network")
    is_half = known >= known.max("time") / 2
    return information_staged(part).isel(time=is_half.argmax("time")).drop_vars("time")


def informed(part: xr.Dataset) -> xr.DataArray:
    """I reaches 0.2 bit."""
    return _bits(part, "network").max("time") >= 0.2


def _bits(part: xr.Dataset, quantity: str) -> xr.DataArray:
    bits = part["information"].sel(quantity=quantity, drop=True)
    return bits.isel(explainer=0, drop=True)


def ends_at(least: float | int, name: str, **place: str) -> Values:
    """A variable, at a place of its axes, is at least so large at the end."""
    at_end = lambda part: part[name].sel(place, drop=True).isel(time=-1, drop=True)
    return lambda part: at_end(part) >= least


def half_fitted(part: xr.Dataset) -> xr.DataArray:
    """The loss falls to half of its initial value."""
    share = part["loss"] / part["loss"].isel(time=0, drop=True)
    return share.min("time") <= FALL["early"]
