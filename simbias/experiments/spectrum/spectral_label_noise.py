"""Label noise and the second descent: wrong labels are fitted as high frequencies.

Some labels of the training sample are wrong.  A classifier first learns the classes and
then the wrong labels one by one, which increases the test error.  The test error falls
a second time when all are learned.  Meanwhile the share of high frequencies along paths
between images rises.  We ask whether it falls again, and how it changes without noise.

Reference: Zhang, Xiong & Wu (2021), Rethink the connections among generalization,
memorization, and the spectral bias of DNNs, arXiv:2004.13954.
"""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from simbias.claims import Claims, difference_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import log_steps
from simbias.experiments.spectrum._paths import (
    HIGH,
    Q,
    closed_paths,
    epochs,
    high_share,
    make,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy, WrongLabelsFitted

AXES = ("noise",)
ZHANG = "Zhang, Xiong & Wu (2021), arXiv:2004.13954; band ours"
RATE, BATCH = 1e-2, 20
# Epochs from which on a second descent is claimed.
LONG = 300
PATHS = {"power": "training images", "test_power": "test images"}
SHARE, UP = f"ln share of q > {HIGH}", "largest test error less least"


def _measures(points: int, pairs: int) -> dict[str, Any]:
    return {
        "power": closed_paths(points, pairs, sample="train"),
        "test_power": closed_paths(points, pairs),
        "accuracy": ClassAccuracy(),
        "wrong_fitted": WrongLabelsFitted(),
    }


def _times(last: int, count: int, n: int) -> tuple[float, ...]:
    return log_steps(RATE * (n // BATCH), 1, last, count)


experiment = presets(
    Experiment(
        name="spectral_label_noise",
        make=make,
        cell={"noise": (0.0, 0.2), "n_test": 597},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam", batch=BATCH),
        loss=cross_entropy,
        times=_times(LONG, 30, 1000),
        measures=_measures(32, 100),
        dtype="float32",
    ),
    smoke={
        "cell": {"n": 200, "n_test": 100, "m": 32},
        "seeds": 6,
        "times": _times(30, 5, 200),
        "measures": _measures(16, 20),
    },
    paper={
        "cell": {
            "noise": (0.0, 0.1, 0.2),
            "m": 512,
            "source": "mnist",
            "n": 4000,
            "n_test": 2000,
        },
        "times": _times(1000, 40, 4000),
    },
)


class _Turns(NamedTuple):
    """A result at four records: least test error, then largest, high share, and end."""

    best: xr.Dataset
    worst: xr.Dataset
    highest: xr.Dataset
    end: xr.Dataset


def error_on_test(ds: xr.Dataset) -> xr.DataArray:
    """Share of the test images that are classified wrongly."""
    return 1 - ds["accuracy"].sel(sample="test", drop=True)


def turns(ds: xr.Dataset, by: xr.Dataset) -> _Turns:
    """The result at the records where means of `by` over seeds turn.

    Records are chosen on one half of the seeds and evaluated on the other half.  This
    avoids selection bias in the largest value.
    """
    halves = [slice(0, None, 2), slice(1, None, 2)]
    places = [_places(by.isel(seed=half)) for half in halves[::-1]]
    at = lambda half, place: ds.isel(seed=half, time=place).drop_vars("time")
    both = lambda i: xr.concat(
        [at(half, place[i]) for half, place in zip(halves, places, strict=True)], "seed"
    ).sortby("seed")
    return _Turns(both(0), both(1), both(2), ds.isel(time=-1, drop=True))


def _places(ds: xr.Dataset) -> tuple[int, int, int]:
    error = error_on_test(ds).mean("seed").fillna(1.0)
    share = high_share(ds["power"]).mean("seed").fillna(-np.inf)
    best = int(error.argmin("time"))
    later = [one.isel(time=slice(best, None)).argmax("time") for one in (error, share)]
    return best, best + int(later[0]), best + int(later[1])


def errors(ds: xr.Dataset) -> xr.DataArray:
    """Test error, and the share of the wrong labels that is not fitted."""
    both = {"test error": error_on_test(ds)}
    both |= {"wrong labels not fitted": 1 - ds["wrong_fitted"]}
    return xr.Dataset(both).to_dataarray("error")


def high_shares(ds: xr.Dataset) -> xr.DataArray:
    """Ln of the high frequencies' share, between training and between test images."""
    return high_share(ds[list(PATHS)].to_dataarray("paths"))


def spectra(ds: xr.Dataset) -> xr.DataArray:
    """Shares of A_q with most noise: at the start, where errors turn, at the end."""
    noisy = ds.isel(noise=-1)
    turning = sorted({0, *_places(noisy)[:2], ds.sizes["time"] - 1})
    power = noisy["power"].isel(time=turning).rename(time="epoch")
    at = epochs(ds, RATE, BATCH).values[turning]
    return (power / power.sum(Q)).assign_coords(epoch=at)


figure = Panels(
    Curves(errors, colour="noise", line="error", title="errors", ylim=(0, 1)),
    Curves(high_shares, colour="noise", line="paths", title=SHARE),
    Curves(
        spectra,
        colour="epoch",
        first_colour=2,
        x=Q,
        xlabel="periods there and back, q",
        xscale="log",
        yscale="log",
        title="shares of A_q between training images, most noise",
    ),
    x=lambda ds: epochs(ds, RATE, BATCH),
    xlabel="epoch",
    xscale={"value": "symlog", "linthresh": 1},
    names={"paths": PATHS},
    size=(4.7, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The high share rises and falls with the test error; without noise, neither."""
    noisy = [ds.sel(noise=v) for v in ds["noise"].values if v > 0]
    clean = [ds.sel(noise=v) for v in ds["noise"].values if v == 0]
    long = {f"{LONG} epochs": epochs(ds, RATE, BATCH).values[-1] >= LONG}
    out = []
    for part in noisy:
        turn, where = turns(part, part), f"noise {float(part['noise']):g}"
        out += Claims(long, where).rows(*_of_errors(turn))
        for which, name in PATHS.items():
            out += Claims(long, f"{where}, {name}").rows(*_of_paths(turn, which))
    for part in clean if noisy else ():
        out += Claims(long).rows(*_without(part, noisy[-1]))
    return out


def _of_errors(turn: _Turns) -> list[Claim]:
    best, worst, end = (error_on_test(t) for t in (turn.best, turn.worst, turn.end))
    fitted = turn.worst["wrong_fitted"], turn.best["wrong_fitted"]
    text = f"share of wrong labels fitted, {UP}"
    ours = "ours: it is the noise that is fitted"
    second = "test error, end less largest: a second descent"
    return [
        difference_of(text, *fitted, (0.5, 1), ours),
        difference_of(f"test error, {UP}", worst, best, (0, np.inf), ZHANG),
        difference_of(second, end, worst, (-np.inf, 0), ZHANG),
    ]


def _of_paths(turn: _Turns, which: str) -> list[Claim]:
    best, worst, highest, end = (high_share(one[which]) for one in turn)
    first = f"{SHARE}, end less at largest test error"
    then = f"{SHARE}, end less largest"
    return [
        difference_of(f"{SHARE}, {UP}", worst, best, (0.2, np.inf), ZHANG),
        difference_of(first, end, worst, (-np.inf, 0), ZHANG),
        difference_of(then, end, highest, (-np.inf, 0), ZHANG),
    ]


def _without(clean: xr.Dataset, noisy: xr.Dataset) -> list[Claim]:
    """Values without noise, at the epochs of the run with noise."""
    plain, other = (turns(part, noisy) for part in (clean, noisy))
    share = lambda one: high_share(one["power"])
    rise, with_rise = (share(t.worst) - share(t.best) for t in (plain, other))
    fall, with_fall = (share(t.end) - share(t.highest) for t in (plain, other))
    source = "ours: noise alone does it"
    control = f"control, no noise: {SHARE}, end less where it is largest with noise"
    more = f"{SHARE}: rise with noise less without"
    less = f"{SHARE}: fall from its largest, with noise less without"
    return [
        mean_of(control, fall, (-0.05, np.inf), source),
        difference_of(more, with_rise, rise, (0.2, np.inf), source),
        difference_of(less, with_fall, fall, (-np.inf, 0), source),
    ]
