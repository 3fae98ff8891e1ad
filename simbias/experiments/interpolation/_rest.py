"""Whether networks interpolate, at the last time and for t → ∞; spurious limits."""

import json

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.analysis.threshold import threshold
from simbias.analysis.wilson import wilson
from simbias.core import AT_REST, Dataset, Estimate, Experiment, Status
from simbias.experiments._draws import once_a_sample, samples
from simbias.results import is_finished
from simbias.stops import Stationary
from simbias.theory.least_loss import least_loss

# A member interpolates if its train error is below this share of σ².
INTERPOLATED = 0.01


def interpolates(ds: xr.Dataset) -> xr.DataArray:
    """1 if the final train error is below 1 % of σ², 0 if not, NaN if failed."""
    below = ds["train_risk"].isel(time=-1) < INTERPOLATED * ds["sigma"] ** 2
    return below.astype(float).where(is_finished(ds))


def known_limits(ds: xr.Dataset) -> xr.Dataset:
    """The train error over σ² for t → ∞, and whether the network interpolates.

    `loss` is that of a network with a proven limit.  `interpolates` is 1, 0, or NaN if
    neither is known.  A network that interpolates at any time does so for ever, since
    the loss falls.
    """
    last = ds["train_risk"].isel(time=-1) / ds["sigma"] ** 2
    is_proven = ds["status"].isin([int(s) for s in AT_REST])
    is_known = is_proven | (last < INTERPOLATED)
    verdict = (last < INTERPOLATED).astype(float).where(is_known)
    return xr.Dataset({"loss": last.where(is_known), "interpolates": verdict})


def rates_to_fit(ds: xr.Dataset) -> xr.DataArray:
    """One over the time at which the train error is 0.01 σ².

    0 if a proven limit is above this level for ever, NaN if neither is known.
    """
    verdict = known_limits(ds)["interpolates"]
    level = INTERPOLATED * ds["sigma"] ** 2
    time = first_passage(-xr.ufuncs.log(ds["train_risk"] / level), 0.0)
    return (1 / time).where(verdict != 0, 0.0).where(verdict.notnull())


def spurious(
    ds: xr.Dataset, experiment: Experiment, witness: xr.DataArray | float = 0.0
) -> xr.DataArray:
    """1 if the limit is proven and no best network of its sample, 0 if it is, or NaN.

    1: the train error of the limit is above the least of all widths by more than
    0.01 σ².  0: the train error is already below that, and it only falls.  NaN: else.

    `Stationary` proves that every neuron ends within a share τ of its size, its
    `tolerance`.
    So outputs f(xᵢ) change by at most (2τ + τ²) ½‖θ‖² |xᵢ|, and the root of the train
    error by at most as much times the root mean square of |xᵢ|.

    Args:
        ds: a result with `train_risk` and `norm`, ½‖θ‖².
        experiment: the one with its `make`.
        witness: the train error of a network of the same width on the same sample.  A
            limit above it is no best network of its own width.
    """
    is_proven = ds["status"] == int(Status.STATIONARY)
    least, length = (xr.full_like(ds["status"], np.nan, float) for _ in range(2))

    @once_a_sample
    def of_sample(data: Dataset) -> tuple[float, float]:
        square = np.sum(np.asarray(data.x) ** 2, axis=1) + has_bias
        return 2 * least_loss(data, has_bias=has_bias), float(np.mean(square)) ** 0.5

    has_bias = bool(ds.get("has_bias", False))
    for place, _, data in samples(ds, experiment, is_proven):
        least[place], length[place] = of_sample(data)
    end, level = ds.isel(time=-1), INTERPOLATED * ds["sigma"] ** 2
    risk = end["train_risk"].where(is_finished(ds))
    root = risk**0.5 - further(_tolerance(ds)) * end["norm"] * length
    is_above = root.clip(0) ** 2 > xr.ufuncs.maximum(least, witness) + level
    is_best = risk < least.fillna(0) + level
    return is_above.astype(float).where(is_above | is_best)


def further(tolerance: float) -> float:
    """How far the output of a proven limit may still move, in (½‖θ‖²) |x|."""
    return 2 * tolerance + tolerance**2


def _tolerance(ds: xr.Dataset) -> float:
    """That of the stop of a run."""
    stop = json.loads(ds.attrs.get("configuration", "{}")).get("stop") or {}
    return stop.get("tolerance", Stationary().tolerance)


def either_way(won: int, lost: int, seeds: int) -> Estimate:
    """The share of `seeds` that won; those that did neither count both ways."""
    low, high = wilson(won, seeds).low, wilson(seeds - lost, seeds).high
    method = f"Wilson score, what is unknown counted both ways, of {seeds}"
    return Estimate((won + seeds - lost) / 2 / seeds, low, high, method)


def share_either_way(verdict: xr.DataArray) -> Estimate:
    """The share of 1; what is NaN counts both ways."""
    won, lost = (int((verdict == v).sum()) for v in (1, 0))
    return either_way(won, lost, verdict.size)


def size_of_half(verdict: xr.DataArray) -> Estimate:
    """n* for any outcome of the undecided networks: the hull of both intervals.

    Args:
        verdict: 1, 0 or NaN, over `n` and `seed`.
    """
    sample = verdict.transpose("n", "seed")
    ways = [threshold(sample.fillna(v)) for v in (0.0, 1.0)]
    value = float(np.sqrt(ways[0].value * ways[1].value))
    low, high = min(w.low for w in ways), max(w.high for w in ways)
    method = f"logistic, {int(sample.isnull().sum())} undecided counted both ways"
    return Estimate(value, low, high, method)
