"""Spectrum between two digits: smoother within a class, rougher with label noise.

Along straight paths between images a trained classifier is a function of one variable,
with a spectrum.  Between classes it has to change, within a class it need not.  Wrong
labels are learned as high frequencies.

How much is high depends on the normalisation.  R_q = ln(A_q/Σ A) is relative to the
whole spectrum.  Its largest part is q = 0, the mean on the path, since within a class
the logits keep their values.  The share without the mean is relative to the part that
changes on the path.

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
    high_ratio,
    high_share,
    make,
    open_paths,
)
from simbias.figures import Curves, Panels
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import ClassAccuracy
from simbias.measures.spectrum.path_spectrum import Kind

AXES = ("noise",)
PAPER = "Fridovich-Keil et al. (2022), arXiv:2110.02424; band ours"
PAGE = f"R_k of the CS826 project page, all k; {PAPER}"
OURS = "ours: images of two classes are farther apart than those of one"
NOISE = "Zhang, Xiong & Wu (2021), arXiv:2004.13954; band ours"
RATE, BATCH = 1e-3, 50
KINDS: tuple[Kind, ...] = ("within", "between")
# Four periods from one image to the other: q counts them on the path.
OPEN, CLOSED = HIGH // 2, HIGH


def _measures(points: int, pairs: int) -> dict[str, Any]:
    closed = {k: closed_paths(points, pairs, k, has_mean=True) for k in KINDS}
    # Twice the points, for the same frequencies.
    opened = {f"open_{k}": open_paths(2 * points, pairs, k) for k in KINDS}
    return {**closed, **opened, "accuracy": ClassAccuracy()}


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
    # Zero has no place on an axis of logarithms.
    ends = ends.where(ends[Q] > 0)
    return ends.rename(time="when").assign_coords(when=["end", "start"])


def ratio(part: xr.Dataset, kind: Kind, is_open: bool) -> xr.DataArray:
    """Ln of the high frequencies' share of the whole spectrum, with the mean."""
    if is_open:
        return high_ratio(part[f"open_{kind}"], OPEN)
    return high_ratio(part[kind], CLOSED)


def with_shares(ds: xr.Dataset) -> xr.Dataset:
    """Ln of the high frequencies' part, over `of`, the normalisation."""
    kinds = xr.DataArray([*KINDS], dims="kind")
    rows = {
        f"ln share of q > {OPEN} of all q, open paths": lambda kind: ratio(
            ds, kind, True
        ),
        f"ln share of q > {CLOSED} of all q, there and back": lambda kind: ratio(
            ds, kind, False
        ),
        f"ln share of q > {CLOSED} without the mean": lambda kind: high_share(ds[kind]),
    }
    each = [xr.concat([row(kind) for kind in KINDS], kinds) for row in rows.values()]
    return ds.assign(
        shares=xr.concat(each, xr.DataArray([*rows], dims="of", name="of"))
    )


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
        title="A_q there and back",
    ),
    Curves("shares", facet="of", colour="kind", line="noise", ticks=True),
    Curves(
        "accuracy",
        colour="sample",
        line="noise",
        first_colour=2,
        ticks=True,
        title="accuracy",
    ),
    of=with_shares,
    x=lambda ds: epochs(ds, RATE, BATCH),
    xlabel="epoch",
    xscale={"value": "symlog", "linthresh": 1},
    size=(5.0, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Power and share, between and within; the effect of noise, and the control."""
    out, seen = [], epochs(ds, RATE, BATCH).values
    long = {f"{EPOCHS[-1]} epochs": seen[-1] >= EPOCHS[-1]}
    rises = {
        f"ln R of q > {CLOSED}": ratio(ds, "between", False),
        "ln share": high_share(ds["between"]),
    }
    fourth = int(np.searchsorted(seen, 4))
    for noise in ds["noise"].values:
        where = f"noise {noise:g}"
        out += _between_less_within(ds.sel(noise=noise), where, long)
        band = (0.2, np.inf) if noise > 0 else (-0.1, 0.1)
        for name, values in rises.items():
            text = f"{name} between classes, last epoch less the fourth"
            one = values.sel(noise=noise)
            rise = mean_of(text, one.isel(time=-1) - one.isel(time=fourth), band, NOISE)
            control = where if noise > 0 else f"control, {where}"
            out += Claims(long, control).rows(rise)
    if ds.sizes["noise"] > 1:
        for name, values in rises.items():
            last = values.isel(time=-1)
            text = f"{name} between classes at the end, noise {noise:g} less none"
            most, none = last.isel(noise=-1), last.isel(noise=0)
            row = difference_of(text, most, none, (0.2, np.inf), NOISE)
            out += Claims(long).rows(row)
    return out


def _between_less_within(
    part: xr.Dataset, where: str, long: dict[str, np.bool_]
) -> list[Claim]:
    """All normalisations; and the difference before training."""
    text, rows, controls = "between less within classes", [], []
    for is_open, above, path in (
        (True, OPEN, "open paths"),
        (False, CLOSED, "there and back"),
    ):
        name = f"ln R of q > {above}, all q, {path}"
        apart = ratio(part, "between", is_open) - ratio(part, "within", is_open)
        end, start = apart.isel(time=-1), apart.isel(time=0)
        rows.append(mean_of(f"{name}, {text}", end, (0, np.inf), PAGE))
        told = f"{name}, {text}, end less start"
        rows.append(difference_of(told, end, start, (0, np.inf), f"{PAGE}; {OURS}"))
        told = f"{name}, {text}, before training"
        controls.append(mean_of(told, start, (-0.1, 0.1), "ours: no class is known"))
    end = part.isel(time=-1)
    power = high_power(end["between"]) - high_power(end["within"])
    share = high_share(end["between"]) - high_share(end["within"])
    told = f"ln share of q > {HIGH} without the mean, {text}"
    return [
        *Claims(long, where).rows(*rows),
        *Claims(where=where).rows(
            mean_of(f"ln power of q > {HIGH}, {text}", power, (0, np.inf), PAPER)
        ),
        *Claims(long, where).rows(mean_of(told, share, (0, np.inf), PAPER)),
        *Claims(where=f"control, {where}").rows(*controls),
    ]
