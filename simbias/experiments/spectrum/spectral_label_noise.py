"""Wrong labels are fitted as high frequencies; the test error turns twice.

Some labels of the training sample are wrong.  A classifier learns the classes, then the
wrong labels one by one, at the cost of the test error, and this falls a second time
when they are learned.  Along paths between images the share of high frequencies rises
meanwhile; whether it falls again is asked, and what it does without noise.

Reference: Zhang, Xiong & Wu (2021), Rethink the connections among generalization,
memorization, and the spectral bias of DNNs, arXiv:2004.13954.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import difference_of, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.vision.images import SHAPE, Source
from simbias.experiments.spectrum._paths import (
    CLASSES,
    HIGH,
    TrainingPaths,
    high_share,
    wrong_in_training,
)
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.introspection.outputs import outputs
from simbias.losses import cross_entropy
from simbias.measures.risk.class_accuracy import ClassAccuracy
from simbias.measures.spectrum.path_spectrum import PathSpectrum
from simbias.networks.dense.mlp_init import torch_default
from simbias.presets import presets

AXES = ("noise",)
ZHANG = "Zhang, Xiong & Wu (2021), arXiv:2004.13954; band ours"
RATE, BATCH = 1e-2, 20
# Epochs from which on a second descent is claimed.
LONG = 300


def make(
    key: PRNGKeyArray,
    *,
    noise: Real = 0.2,
    n: int = 1000,
    n_test: int = 597,
    m: int = 128,
    depth: int = 2,
    source: Source = "digits",
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Images in ten classes, some labels wrong in training alone, and a network.

    Args:
        key: random key.
        noise: share of the training labels that are another class, drawn uniformly.
        n: samples.
        n_test: of the test sample, whose classes are the true ones.
        m: width.
        depth: hidden layers.
        source: of the images, as for `simbias.datasets.vision.images`.
        data_dir: folder with the files of MNIST or CIFAR-10.

    Raises:
        ValueError: for a name or number out of range.
    """
    key_data, key_network = jax.random.split(key)
    sizes = {"n": n, "n_test": n_test, "source": source, "data_dir": data_dir}
    data = wrong_in_training(key_data, noise=noise, **sizes)
    d = int(np.prod(SHAPE[source]))
    return data, torch_default(key_network, d=d, m=m, depth=depth, k=CLASSES)


def wrong_fitted(network: Any, data: Dataset) -> Float[Array, ""]:
    """Share of the wrong training labels that the network gives; NaN if none is."""
    true, label = jnp.argmax(data.mean, axis=1), jnp.argmax(data.y, axis=1)
    weight = jnp.where(true != label, data.weight, 0)
    found = jnp.argmax(outputs(network, data.x), axis=1)
    total = jnp.sum(weight)
    share = jnp.sum(jnp.where(found == label, weight, 0)) / jnp.maximum(total, 1)
    return jnp.where(total > 0, share, jnp.nan)


def _measures(points: int, pairs: int) -> dict[str, Any]:
    paths = PathSpectrum(points, pairs, "all", True, False)
    return {
        "power": TrainingPaths(paths),
        "test_power": paths,
        "accuracy": ClassAccuracy(),
        "wrong_fitted": wrong_fitted,
    }


def _times(last: int, count: int, n: int) -> tuple[float, ...]:
    epochs = np.unique(np.round(np.geomspace(1, last, count))).tolist()
    return tuple(RATE * (n // BATCH) * e for e in (0, *epochs))


experiment = presets(
    Experiment(
        name="spectral_label_noise",
        make=make,
        cell={"noise": (0.0, 0.2)},
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
    """A result at four records: test error least, then largest, high share, and end."""

    best: xr.Dataset
    worst: xr.Dataset
    highest: xr.Dataset
    end: xr.Dataset


def error_on_test(ds: xr.Dataset) -> xr.DataArray:
    """Share of the test images whose class is not told."""
    return 1 - ds["accuracy"].sel(sample="test", drop=True)


def turns(ds: xr.Dataset, by: xr.Dataset) -> _Turns:
    """Of `ds`, where means of `by` over seeds turn: after the least test error.

    Each half of the seeds is read at the records that the other half tells: what is
    chosen as the largest is then no larger by chance.
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


def figure(ds: xr.Dataset) -> Figure:
    """Errors and what is fitted by epoch, the high share, spectra where errors turn."""
    epochs = _epochs(ds)
    with style():
        whole = blank(14.0, 3.8)
        first, middle, last = whole.subplots(1, 3)
        for noise, colour in zip(ds["noise"].values, COLOURS, strict=False):
            part, name = ds.sel(noise=noise), f"noise {noise:g}"
            label = f"test error, {name}"
            band(first, epochs, error_on_test(part), colour=colour, label=label)
            if noise > 0:
                label, missed = f"wrong labels not fitted, {name}", 1 - part[_FITTED]
                band(first, epochs, missed, ":", colour=colour, label=label)
            for which, line in (("power", "-"), ("test_power", "--")):
                label = f"{_PATHS[which]}, {name}"
                share = high_share(part[which])
                band(middle, epochs, share, line, colour=colour, label=label)
        noisy = ds.isel(noise=-1)
        end = len(epochs) - 1
        places = sorted({0, *_places(noisy)[:2], end})
        for place, colour in zip(places, COLOURS[2:], strict=False):
            power = noisy["power"].isel(time=place)
            shown = power / power.sum("path_frequency")
            line = {0: ":", end: "--"}.get(place, "-")
            label, q = f"epoch {epochs[place]:g}", power["path_frequency"].values
            band(last, q, shown, line, colour=colour, label=label, alpha=0.1)
        first.set(ylim=(0, 1.4), yticks=np.arange(6) / 5)  # room for the legend
        first.set_title("errors")
        middle.set_title(f"ln share of q > {HIGH}")
        noise = float(noisy["noise"])
        last.set_title(f"shares of A_q between training images, noise {noise:g}")
        last.set(xscale="log", yscale="log", xlabel="periods there and back, q")
        for axes in (first, middle):
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xticks([0, 1, 3, 10, 30, 100, 300], list("013") + _TICKS)
            axes.minorticks_off()
            axes.set(xlabel="epoch", xlim=(0, epochs[-1]))
        for axes, place in ((first, "upper right"), (middle, "best"), (last, "best")):
            axes.legend(loc=place)
    return whole


_FITTED, _TICKS = "wrong_fitted", ["10", "30", "100", "300"]
_PATHS = {"power": "training images", "test_power": "test images"}


def _epochs(ds: xr.Dataset) -> np.ndarray:
    return np.round(ds["time"].values * BATCH / (RATE * int(ds["n"])))


def claims(ds: xr.Dataset) -> list[Claim]:
    """The high share rises and falls with the test error; without noise, neither."""
    noisy = [ds.sel(noise=v) for v in ds["noise"].values if v > 0]
    clean = [ds.sel(noise=v) for v in ds["noise"].values if v == 0]
    out = [claim for part in noisy for claim in _with_noise(part)]
    for part, noise in ((c, n) for c in clean for n in noisy[-1:]):
        out += _without(part, noise)
    is_long = _epochs(ds)[-1] >= LONG
    return [claim.given(is_long, f"{LONG} epochs") for claim in out]


def _with_noise(part: xr.Dataset) -> list[Claim]:
    turn = turns(part, part)
    where, up = f"noise {float(part['noise']):g}", "largest test error less least"
    changed = lambda of, then, first: (
        of(getattr(turn, then)),
        of(getattr(turn, first)),
    )
    fitted = changed(lambda one: one["wrong_fitted"], "worst", "best")
    rise = changed(error_on_test, "worst", "best")
    fall = changed(error_on_test, "end", "worst")
    text = f"{where}: share of wrong labels fitted, {up}"
    out = [
        difference_of(text, *fitted, (0.5, 1), "ours: it is the noise that is fitted")
    ]
    text = f"{where}: test error"
    out.append(difference_of(f"{text}, {up}", *rise, (0, np.inf), ZHANG))
    text = f"{text}, end less largest: a second descent"
    out.append(difference_of(text, *fall, (-np.inf, 0), ZHANG))
    for which, name in _PATHS.items():
        share = lambda one, which=which: high_share(one[which])
        text = f"{where}, {name}: ln share of q > {HIGH}"
        rise = changed(share, "worst", "best")
        out.append(difference_of(f"{text}, {up}", *rise, (0.2, np.inf), ZHANG))
        for then, said in (("worst", "at largest test error"), ("highest", "largest")):
            fall = changed(share, "end", then)
            found = difference_of(
                f"{text}, end less {said}", *fall, (-np.inf, 0), ZHANG
            )
            out.append(found)
    return out


def _without(clean: xr.Dataset, noisy: xr.Dataset) -> list[Claim]:
    """At the epochs of the run with noise."""
    share = lambda one: high_share(one["power"])
    plain, other = (turns(part, noisy) for part in (clean, noisy))
    rise, with_rise = (share(t.worst) - share(t.best) for t in (plain, other))
    fall, with_fall = (share(t.end) - share(t.highest) for t in (plain, other))
    text, source = f"ln share of q > {HIGH}", "ours: noise alone does it"
    control = f"control, no noise: {text}, end less where it is largest with noise"
    more = f"{text}: rise with noise less without"
    less = f"{text}: fall from its largest, with noise less without"
    return [
        mean_of(control, fall, (-0.05, np.inf), source),
        difference_of(more, with_rise, rise, (0.2, np.inf), source),
        difference_of(less, with_fall, fall, (-np.inf, 0), source),
    ]
