"""On the way from one digit to another: smoother within a class, rougher with noise.

Along straight paths between images a trained classifier is a function of one variable,
with a spectrum.  Between classes it has to change, within a class it need not; labels
that are wrong are learned as what varies fast.

Reference: Fridovich-Keil, Gontijo-Lopes & Roelofs (2022), Spectral bias in practice,
arXiv:2110.02424; on wrong labels Zhang, Xiong & Wu (2021), arXiv:2004.13954.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import difference_of, mean_of
from simbias.core import (
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.datasets.vision.images import SHAPE, Source
from simbias.experiments.spectrum._paths import (
    CLASSES,
    HIGH,
    Q,
    high_power,
    high_share,
    wrong_in_training,
)
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import cross_entropy
from simbias.measures.risk.class_accuracy import ClassAccuracy
from simbias.measures.spectrum.path_spectrum import PathSpectrum
from simbias.networks.dense.mlp_init import torch_default
from simbias.presets import presets

AXES = ("noise",)
PAPER = "Fridovich-Keil et al. (2022), arXiv:2110.02424; band ours"
NOISE = "Zhang, Xiong & Wu (2021), arXiv:2004.13954; band ours"
RATE, BATCH = 1e-3, 50


def make(
    key: PRNGKeyArray,
    *,
    noise: Real = 0.0,
    n: int = 1000,
    n_test: int = 500,
    m: int = 128,
    depth: int = 2,
    source: Source = "digits",
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Images in ten classes, some labels wrong in training alone, and a network.

    Args:
        key: random key.
        noise: share of wrong labels in the training sample.
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


def _powers(points: int, pairs: int) -> dict[str, PathSpectrum]:
    kinds = ("within", "between")
    path = lambda kind: PathSpectrum(points, pairs, kind, True, False)
    return {kind: path(kind) for kind in kinds}


def _times(epochs: tuple[int, ...], n: int) -> tuple[float, ...]:
    return tuple(RATE * (n // BATCH) * e for e in epochs)


EPOCHS = (0, 1, 2, 4, 8, 16, 32, 64, 128)
experiment = presets(
    Experiment(
        name="path_spectrum",
        make=make,
        cell={"noise": (0.0, 0.2)},
        seeds=12,
        flow=Descent(rate=RATE, optimiser="adam", batch=BATCH),
        loss=cross_entropy,
        times=_times(EPOCHS, 1000),
        measures={**_powers(32, 100), "accuracy": ClassAccuracy()},
        dtype="float32",
    ),
    smoke={
        "cell": {"n": 200, "n_test": 100, "m": 32},
        "seeds": 6,
        "times": _times((0, 4, 64), 200),
        "measures": {**_powers(16, 20), "accuracy": ClassAccuracy()},
    },
    paper={
        "cell": {"m": 512, "source": "mnist", "n": 4000, "n_test": 2000},
        "seeds": 20,
        "times": _times((*EPOCHS, 256, 512), 4000),
    },
)


_COLOURS = {"within": COLOURS[0], "between": COLOURS[1]}


def _epochs(ds: xr.Dataset) -> np.ndarray:
    return np.round(ds["time"].values * BATCH / (RATE * int(ds["n"])))


def figure(ds: xr.Dataset) -> Figure:
    """Spectra at the end, the share of high frequencies by epoch, accuracies."""
    noises = ds["noise"].values
    with style():
        whole = blank(4.2 * (2 + len(noises)), 3.8)
        *spectra, middle, last = whole.subplots(1, 2 + len(noises))
        x = _epochs(ds)
        for axes, noise, line in zip(spectra, noises, ("-", "--", ":"), strict=False):
            part = ds.sel(noise=noise)
            for kind, colour in _COLOURS.items():
                for time, style_, when in ((0, ":", "start"), (-1, "-", "end")):
                    power, label = part[kind].isel(time=time), f"{kind}, {when}"
                    q = power[Q].values
                    band(axes, q, power, style_, colour=colour, label=label)
                share, label = high_share(part[kind]), f"{kind}, noise {noise:g}"
                band(middle, x, share, line, colour=colour, label=label)
            axes.set(xscale="log", yscale="log", xlabel="periods there and back, q")
            axes.set_title(f"A_q, noise {noise:g}")
            for sample, colour in (("train", COLOURS[2]), ("test", COLOURS[3])):
                seen, label = (
                    part["accuracy"].sel(sample=sample),
                    f"{sample}, {noise:g}",
                )
                band(last, x, seen, line, colour=colour, label=label)
        spectra[0].legend()
        middle.set_title(f"ln share of q > {HIGH}")
        last.set_title("accuracy")
        for axes, place in ((middle, "upper center"), (last, "lower right")):
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xticks(x, [f"{v:g}" for v in x])
            axes.minorticks_off()
            axes.set_xlabel("epoch")
            axes.legend(loc=place)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Power and share, between and within; what noise adds, and only noise."""
    out, epochs = [], _epochs(ds)
    is_long, long = epochs[-1] >= EPOCHS[-1], f"{EPOCHS[-1]} epochs"
    early = int(np.searchsorted(epochs, 4))
    ends = []
    for noise in ds["noise"].values:
        part, where = ds.sel(noise=noise), f"noise {noise:g}"
        end = part.isel(time=-1)
        text = f"{where}: ln power of q > {HIGH}, between less within classes"
        apart = high_power(end["between"]) - high_power(end["within"])
        out.append(mean_of(text, apart, (0, np.inf), PAPER))
        text = f"{where}: ln share of q > {HIGH}, between less within classes"
        apart = high_share(end["between"]) - high_share(end["within"])
        out.append(mean_of(text, apart, (0, np.inf), PAPER).given(is_long, long))
        share = high_share(part["between"])
        rise = share.isel(time=-1) - share.isel(time=early)
        name = where if noise > 0 else f"control, {where}"
        text = f"{name}: ln share between classes, last epoch less the fourth"
        low, high = (0.2, np.inf) if noise > 0 else (-0.1, 0.1)
        out.append(mean_of(text, rise, (low, high), NOISE).given(is_long, long))
        ends.append(share.isel(time=-1))
    if len(ends) > 1:
        text = f"ln share between classes at the end, noise {noise:g} less none"
        claim = difference_of(text, ends[-1], ends[0], (0.2, np.inf), NOISE)
        out.append(claim.given(is_long, long))
    return out
