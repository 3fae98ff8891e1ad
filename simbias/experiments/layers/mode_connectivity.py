"""Two networks are one up to the order of their neurons, and more so if they are wide.

Two networks that learn the same images from different starts have a barrier between
them: on the line from weights to weights the error rises and falls again.  But a
network does not know the order of its neurons.  With the neurons of the second in the
order that brings its weights, or its activations, closest to those of the first, the
barrier falls; in wide networks little is left.  Each member is such a pair, on batches
of their own.

Reference: Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836; Entezari, Sedghi,
Saukh & Neyshabur (2022), arXiv:2110.06296.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.checks.values import positive_integer
from simbias.claims import difference_of, mean_of, smallest_of
from simbias.core import Claim, Dataset, Experiment
from simbias.datasets.vision.images import Source, images
from simbias.experiments.layers._digits import CLASSES, ClassAccuracy, N, input_size
from simbias.experiments.layers._paths import (
    MATCHINGS,
    NAMES,
    TINTS,
    Path,
    barrier,
)
from simbias.experiments.layers._side_by_side import (
    SideBySide,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import blank, style
from simbias.flows.descent import Descent
from simbias.networks.dense.mlp import mlp
from simbias.presets import presets

OURS = "ours"
FRANKLE = "above 2 % is unstable: Frankle et al. (2020), arXiv:1912.05671 (?)"
REBASIN = "Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836"
STABLE = f"{REBASIN}; 2 % is the band of Frankle et al. (2020), arXiv:1912.05671 (?)"
ENTEZARI = "Entezari et al. (2022), arXiv:2110.06296"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
# What the figure and the claims read.
AXES = ("m",)
# With n = 1000 the clock counts epochs: ten steps of batches of 100.
RATE, BATCH = 0.1, 100


def make(
    key: PRNGKeyArray,
    *,
    n: int = N,
    n_test: int = 597,
    m: int = 512,
    hidden: int = 2,
    source: Source = "digits",
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, SideBySide]:
    """Images in ten classes, and two networks from different starts."""
    positive_integer("m", m)
    positive_integer("hidden", hidden)
    key_data, *keys = jax.random.split(key, 3)
    data = images(
        key_data, n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    assert data.test is not None
    data = with_targets(data, (data.y, data.test.y))
    widths = (input_size(source), *[m] * hidden, CLASSES)
    return data, side_by_side(*(mlp(k, widths) for k in keys))


experiment = presets(
    Experiment(
        name="mode_connectivity",
        make=make,
        cell={"m": (32, 128, 512)},
        seeds=20,
        flow=Descent(
            rate=RATE, batch=2 * BATCH, optimiser="momentum", sampling="replacement"
        ),
        loss=shared_cross_entropy,
        times=(0.0, 20.0),
        measures={"accuracy": ClassAccuracy()},
        final={"path": Path()},
        dtype="float32",
    ),
    smoke={"cell": {"n": 200, "n_test": 200, "m": (32, 64)}, "seeds": 2},
    paper={
        "cell": {
            "m": (32, 64, 128, 256, 512),
            "hidden": 3,
            "n": 60_000,
            "n_test": 10_000,
            "source": "mnist",
        },
        # 100 epochs of batches of 500.
        "flow": Descent(
            rate=RATE, batch=1000, optimiser="momentum", sampling="replacement"
        ),
        "times": (0.0, 1200.0),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Error and loss along the line at the widest; barriers by width."""
    widest = ds["path"].isel(m=-1)
    with style():
        whole = blank(12.0, 3.6)
        left, middle, right = whole.subplots(1, 3)
        along(left, widest.sel(sample="test", quantity="error"))
        left.set_title(f"test error between two, m = {int(ds['m'][-1])}")
        along(middle, widest.sel(sample="train", quantity="loss"))
        middle.set_title("training loss (nats)")
        by_width = barrier(ds["path"]).sel(sample="test", quantity="error")
        for name in MATCHINGS:
            values = by_width.sel(matching=name)
            places = np.arange(ds.sizes["m"])
            band(right, places, values, "o-", colour=TINTS[name], ms=4)
        law_level(right, 0.02)
        right.set_xticks(np.arange(ds.sizes["m"]), [str(m) for m in ds["m"].values])
        right.set_xlabel("width m")
        right.set_title("barrier of the test error")
        left.legend(title="matched")
    return whole


def along(axes: Axes, path: xr.DataArray) -> None:
    """One quantity along the lines, by how networks are matched."""
    for name in path["matching"].values.tolist():
        values = path.sel(matching=name)
        label, colour = NAMES[name], TINTS[name]
        band(axes, path["alpha"], values, colour=colour, label=label)
    axes.set_xlabel("α, from one network to the other")


def claims(ds: xr.Dataset) -> list[Claim]:
    """There is a barrier; an order of neurons lowers it, the wider the more."""
    train = ds["accuracy"].isel(time=-1).sel(sample="train")
    end, widths = barrier(ds["path"]), ds["m"].values
    error = end.sel(sample="test", quantity="error")
    out = [smallest_of("training accuracy, smallest", train, (0.99, 1.0), OURS)]
    for m in widths:
        naive = error.sel(m=m, matching="none")
        text = f"barrier of the test error, as they are, m = {m}"
        out.append(mean_of(text, naive, (0.02, 1.0), FRANKLE))
    for name in MATCHINGS[1:]:
        how = NAMES[name]
        for m in widths:
            for what in ("error", "loss"):
                sample = "test" if what == "error" else "train"
                both = end.sel(m=m, sample=sample, quantity=what)
                one, other = (both.sel(matching=k) for k in ("none", name))
                text = f"{sample} {what}: as they are − matched {how}, m = {m}"
                out.append(difference_of(text, one, other, (0.0, np.inf), REBASIN))
        for what, sample in (("error", "test"), ("loss", "train")):
            matched = end.sel(sample=sample, quantity=what, matching=name)
            ends = matched.isel(m=0), matched.isel(m=-1)
            text = f"{sample} {what}, matched {how}: narrowest − widest"
            change = difference_of(text, *ends, (0.0, np.inf), ENTEZARI)
            out.append(change.given(widths.size > 1, "two widths"))
        wide = error.sel(matching=name).isel(m=-1)
        text = f"barrier of the test error, matched {how}, at the widest"
        out.append(
            mean_of(text, wide, (0.0, 0.02), STABLE).given(widths[-1] >= 512, "m = 512")
        )
    return out
