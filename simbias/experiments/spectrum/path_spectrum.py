"""Spectrum between two digits: smoother within a class, rougher with label noise.

Along straight paths between images a trained classifier is a function of one variable,
with a spectrum.  Between classes it has to change, within a class it need not; labels
that are wrong are learned as what varies fast.

Reference: Fridovich-Keil, Gontijo-Lopes & Roelofs (2022), Spectral bias in practice,
arXiv:2110.02424; on wrong labels Zhang, Xiong & Wu (2021), arXiv:2004.13954.
"""

from typing import Any

import numpy as np
import xarray as xr

from simbias.claims import Claims, difference_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments.spectrum._paths import (
    HIGH,
    Q,
    closed_paths,
    epochs,
    high_power,
    high_share,
    make,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy
from simbias.measures.spectrum.path_spectrum import Kind

AXES = ("noise",)
PAPER = "Fridovich-Keil et al. (2022), arXiv:2110.02424; band ours"
NOISE = "Zhang, Xiong & Wu (2021), arXiv:2004.13954; band ours"
RATE, BATCH = 1e-3, 50
KINDS: tuple[Kind, ...] = ("within", "between")


def _measures(points: int, pairs: int) -> dict[str, Any]:
    kinds = {kind: closed_paths(points, pairs, kind) for kind in KINDS}
    return {**kinds, "accuracy": ClassAccuracy()}


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
        measures=_measures(32, 100),
        dtype="float32",
    ),
    smoke={
        "cell": {"n": 200, "n_test": 100, "m": 32},
        "seeds": 6,
        "times": _times((0, 4, 64), 200),
        "measures": _measures(16, 20),
    },
    paper={
        "cell": {"m": 512, "source": "mnist", "n": 4000, "n_test": 2000},
        "seeds": 20,
        "times": _times((*EPOCHS, 256, 512), 4000),
    },
)


def powers(ds: xr.Dataset) -> xr.DataArray:
    """A_q within and between classes, at the start and at the end."""
    ends = ds[list(KINDS)].to_dataarray("kind").isel(time=[-1, 0])
    return ends.rename(time="when").assign_coords(when=["end", "start"])


def high_shares(ds: xr.Dataset) -> xr.DataArray:
    """Ln of the high frequencies' share, within and between classes."""
    return high_share(ds[list(KINDS)].to_dataarray("kind"))


figure = Panels(
    Curves(
        powers,
        facet="noise",
        colour="kind",
        line="when",
        x=Q,
        xlabel="periods there and back, q",
        xscale="log",
        yscale="log",
        title="A_q",
    ),
    Curves(
        high_shares,
        colour="kind",
        line="noise",
        ticks=True,
        title=f"ln share of q > {HIGH}",
    ),
    Curves(
        "accuracy", colour="sample", line="noise", first=2, ticks=True, title="accuracy"
    ),
    x=lambda ds: epochs(ds, RATE, BATCH),
    xlabel="epoch",
    xscale={"value": "symlog", "linthresh": 1},
    size=(4.2, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Power and share, between and within; what noise adds, and only noise."""
    out, seen = [], epochs(ds, RATE, BATCH).values
    long = {f"{EPOCHS[-1]} epochs": seen[-1] >= EPOCHS[-1]}
    share = high_share(ds["between"])
    last, early = share.isel(time=-1), share.isel(time=int(np.searchsorted(seen, 4)))
    text = f"of q > {HIGH}, between less within classes"
    fourth = "ln share between classes, last epoch less the fourth"
    for noise in ds["noise"].values:
        where, end = f"noise {noise:g}", ds.sel(noise=noise).isel(time=-1)
        power = high_power(end["between"]) - high_power(end["within"])
        apart = high_share(end["between"]) - high_share(end["within"])
        more = mean_of(f"ln power {text}", power, (0, np.inf), PAPER)
        higher = mean_of(f"ln share {text}", apart, (0, np.inf), PAPER)
        band = (0.2, np.inf) if noise > 0 else (-0.1, 0.1)
        rise = mean_of(fourth, (last - early).sel(noise=noise), band, NOISE)
        out += Claims(where=where).rows(more) + Claims(long, where).rows(higher)
        out += Claims(long, where if noise > 0 else f"control, {where}").rows(rise)
    if ds.sizes["noise"] > 1:
        most, none = last.isel(noise=-1), last.isel(noise=0)
        text = f"ln share between classes at the end, noise {noise:g} less none"
        row = difference_of(text, most, none, (0.2, np.inf), NOISE)
        out += Claims(long).rows(row)
    return out
