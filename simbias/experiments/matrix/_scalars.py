"""One number of a bias for every member, from the history of what was recorded.

All functions take the part of a result that belongs to the bias, over any axes, and
keep those; `staged` ones keep `time`, too.
"""

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.analysis.rank_correlation import rank_correlation
from simbias.experiments.matrix._tasks import FREQUENCIES, VARIANCES

# Gap of the separations of a sample and of its clone at which the clone is left.
LEFT = 0.05
# Fall of the loss up to which a stage lasts.
FALL = {"early": 0.5, "late": 0.1}


def at_stage(part: xr.Dataset, staged: xr.DataArray, stage: str) -> xr.DataArray:
    """The value at "start", "early", "late" or "end".

    "early" is the last record before the loss is half of what it was at the start,
    "late" the last before it is a tenth; NaN where it does not fall so far.
    """
    if stage in ("start", "end"):
        return staged.isel(time=0 if stage == "start" else -1, drop=True)
    share = part["loss"] / part["loss"].isel(time=0, drop=True)
    has_fallen = share <= FALL[stage]
    is_before = has_fallen.cumsum("time") == 0
    last = (is_before.sum("time") - 1).clip(min=0)
    return staged.isel(time=last).drop_vars("time").where(has_fallen.any("time"))


def spectral(part: xr.Dataset) -> xr.DataArray:
    """Spearman's ρ of frequency and time; those never reached are last, together."""
    waves = part["learned"].isel(part=slice(len(FREQUENCIES)))
    time = first_passage(waves, 0.9)
    return rank_correlation(time.fillna(np.inf), "part")


def spectral_staged(part: xr.Dataset) -> xr.DataArray:
    """−ρ of frequency and amplitude."""
    waves = part["learned"].isel(part=slice(len(FREQUENCIES)))
    return -rank_correlation(waves, "part")


def two_waves(part: xr.Dataset) -> xr.DataArray:
    """At least two frequencies reach 0.9."""
    waves = part["learned"].isel(part=slice(len(FREQUENCIES)))
    return (waves.max("time") >= 0.9).sum("part") >= 2


def principal(part: xr.Dataset) -> xr.DataArray:
    """Minus the slope over the components that reach ½."""
    time = first_passage(part["learned"], 0.5)
    y = xr.ufuncs.log(time.where(time > 0))
    x = xr.DataArray(np.log(VARIANCES), dims="part").where(y.notnull())
    x, y = x - x.mean("part"), y - y.mean("part")
    square = (x**2).sum("part")
    return -(x * y).sum("part") / square.where(square > 0)


def principal_staged(part: xr.Dataset) -> xr.DataArray:
    """−ρ of the number of the component and what is learned of it."""
    return -rank_correlation(part["learned"], "part")


def four_components(part: xr.Dataset) -> xr.DataArray:
    """At least four components reach ½."""
    return (part["learned"].max("time") >= 0.5).sum("part") >= 4


def low_dim_staged(part: xr.Dataset) -> xr.DataArray:
    """Accuracy outside exchanged less inside exchanged; nothing of f = 0."""
    right = part["projected"].sel(score="accuracy", drop=True)
    gap = right.sel(mixed="outside", drop=True) - right.sel(mixed="inside", drop=True)
    return gap.where(part["time"] > 0)


def low_dim(part: xr.Dataset) -> xr.DataArray:
    """The same at the end."""
    return _last(low_dim_staged(part))


def distributional(part: xr.Dataset) -> xr.DataArray:
    """Sign of τ₂ − τ₁; a clone that is never left is left last.  NaN for neither."""
    first, second = (first_passage(gap, LEFT) for gap in _gaps(part))
    is_any = first.notnull() | second.notnull()
    order = xr.ufuncs.sign(_late(second) - _late(first))
    return order.where(is_any)


def distributional_staged(part: xr.Dataset) -> xr.DataArray:
    """Gap to the clone of means less the gap to that of covariances."""
    first, second = _gaps(part)
    return (first - second).where(part["time"] > 0)


def weights_staged(part: xr.Dataset) -> xr.DataArray:
    """1 − (r − 1)/(r(0) − 1), r the stable rank."""
    return _lost(part["top_rank"])


def weights(part: xr.Dataset) -> xr.DataArray:
    """The same at the end."""
    return _last(weights_staged(part))


def embeddings_staged(part: xr.Dataset) -> xr.DataArray:
    """Minus the slope of the entropy on ln l."""
    rank = part["layer_ranks"]
    place = xr.DataArray(np.log(1 + np.arange(rank.sizes["layer"])), dims="layer")
    x = place.where(rank.notnull())
    x, y = x - x.mean("layer"), rank - rank.mean("layer")
    square = (x**2).sum("layer")
    return -(x * y).sum("layer") / square.where(square > 0)


def embeddings(part: xr.Dataset) -> xr.DataArray:
    """The same at the end."""
    return _last(embeddings_staged(part))


def sensitivity_staged(part: xr.Dataset) -> xr.DataArray:
    """½ − S; f = 0 is no function of the strings."""
    return (0.5 - part["sensitivity"]).where(part["time"] > 0)


def sensitivity(part: xr.Dataset) -> xr.DataArray:
    """The same at the end."""
    return _last(sensitivity_staged(part))


def alignment_staged(part: xr.Dataset) -> xr.DataArray:
    """What has been gained since the start."""
    return part["alignment"] - part["alignment"].isel(time=0, drop=True)


def alignment(part: xr.Dataset) -> xr.DataArray:
    """The same, early."""
    return at_stage(part, alignment_staged(part), "early")


def width_staged(part: xr.Dataset) -> xr.DataArray:
    """1 − (r − 1)/(r(0) − 1), r the effective rank of the first layer, of σ²."""
    return _lost(part["first_rank"])


def width(part: xr.Dataset) -> xr.DataArray:
    """The same, early."""
    return at_stage(part, width_staged(part), "early")


def randomised_staged(part: xr.Dataset) -> xr.DataArray:
    """(AUC − AUC_S)/(AUC − ½), where AUC is above ½ by a tenth at least."""
    auc = part["auc"]
    names = [str(v) for v in auc["randomised"].values]
    whole, simple = (auc.isel(randomised=i, drop=True) for i in range(2))
    assert len(names) == 3
    above = whole - 0.5
    return (whole - simple) / above.where(above > 0.1)


def randomised(part: xr.Dataset) -> xr.DataArray:
    """The same at the end."""
    return _last(randomised_staged(part))


def information_staged(part: xr.Dataset) -> xr.DataArray:
    """μ/I, where I is above 0.02 bit."""
    known, explained = _information(part, "network"), _information(part, "explained")
    return explained / known.where(known > 0.02)


def information(part: xr.Dataset) -> xr.DataArray:
    """At the first record with half of the largest I."""
    known = _information(part, "network")
    is_half = known >= known.max("time") / 2
    return information_staged(part).isel(time=is_half.argmax("time")).drop_vars("time")


def informed(part: xr.Dataset) -> xr.DataArray:
    """I reaches 0.2 bit."""
    return _information(part, "network").max("time") >= 0.2


def classified(part: xr.Dataset) -> xr.DataArray:
    """Nine of ten test rows at the end."""
    return _accuracy(part) >= 0.9


def mostly_classified(part: xr.Dataset) -> xr.DataArray:
    """Three of four test rows at the end."""
    return _accuracy(part) >= 0.75


def fitted_all(part: xr.Dataset) -> xr.DataArray:
    """All training rows at the end."""
    return _last(part["train_accuracy"]) >= 1


def fitted(part: xr.Dataset) -> xr.DataArray:
    """95 % of the training rows at the end."""
    return _last(part["train_accuracy"]) >= 0.95


def half_fitted(part: xr.Dataset) -> xr.DataArray:
    """The loss falls to half of what it was."""
    share = part["loss"] / part["loss"].isel(time=0, drop=True)
    return share.min("time") <= FALL["early"]


def separated(part: xr.Dataset) -> xr.DataArray:
    """AUC of 0.9 on the test rows at the end."""
    return _last(part["auc"]).isel(randomised=0, drop=True) >= 0.9


def _last(values: xr.DataArray) -> xr.DataArray:
    return values.isel(time=-1, drop=True)


def _late(time: xr.DataArray) -> xr.DataArray:
    """Never is after all times, and one never is no later than another."""
    return time.fillna(1e9)


def _gaps(part: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    of = lambda name: part["separation"].sel(rows=name, drop=True)
    return abs(of("real") - of("means")), abs(of("real") - of("covariances"))


def _lost(rank: xr.DataArray) -> xr.DataArray:
    start = rank.isel(time=0, drop=True) - 1
    return 1 - (rank - 1) / start.where(start > 0)


def _information(part: xr.Dataset, quantity: str) -> xr.DataArray:
    return (
        part["information"]
        .sel(quantity=quantity, drop=True)
        .isel(explainer=0, drop=True)
    )


def _accuracy(part: xr.Dataset) -> xr.DataArray:
    right = part["projected"].sel(score="accuracy", mixed="nothing", drop=True)
    return _last(right)
