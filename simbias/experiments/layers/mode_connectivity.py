"""Mode connectivity up to the order of neurons: better for wide networks.

Two networks that learn the same images from different initialisations have a barrier
between them: on the line that connects their weights, the error rises and falls again.
But the function of a network does not depend on the order of its neurons.  We reorder
the neurons of the second network so that its weights, or its activations, are closest
to those of the first.  Then the barrier is lower, and in wide networks little of it
remains.  Each seed trains such a pair; both networks have their own batches.

By default the images are 8 × 8 digits.  The preset `mnist5k` uses 1000 digits of MNIST
from a Python package.

Reference: Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836; Entezari, Sedghi,
Saukh & Neyshabur (2022), arXiv:2110.06296.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.barrier import barrier
from simbias.claims import difference_of, mean_of, smallest_of
from simbias.core import Claim, Dataset, Experiment
from simbias.datasets.vision.images import Source, images
from simbias.experiment_presets import presets
from simbias.experiments.layers._digits import CLASSES, N, input_size
from simbias.experiments.layers._side_by_side import (
    NAMES,
    UNSTABLE,
    SideBySide,
    descent_of_each,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.figures import Curves, Panels, evenly
from simbias.measures import AccuracyOfEach
from simbias.measures.pairs.weight_path import MATCHINGS, WeightPath
from simbias.networks import mlp
from simbias.validation.values import positive_integers

OURS = "ours"
FRANKLE = "above 2 % is unstable: Frankle et al. (2020), arXiv:1912.05671 (?)"
REBASIN = "Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836"
STABLE = f"{REBASIN}; 2 % is the band of Frankle et al. (2020), arXiv:1912.05671 (?)"
ENTEZARI = "Entezari et al. (2022), arXiv:2110.06296"
LEAST_TIME = 20.0
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
    """Images in ten classes, and two networks of different initialisations."""
    positive_integers(m=m, hidden=hidden)
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
        flow=descent_of_each(2, RATE, BATCH),
        loss=shared_cross_entropy,
        times=(0.0, 20.0),
        measures={"accuracy": AccuracyOfEach(CLASSES)},
        final={"path": WeightPath()},
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
        "flow": descent_of_each(2, RATE, 500),
        "times": (0.0, 1200.0),
    },
    mnist5k={"cell": {"source": "mnist5k"}, "seeds": 6},
    # At `RATE` rounding decides whether a network of so few images diverges.
    mnist5k_smoke={
        "cell": {"m": (64, 128)},
        "flow": descent_of_each(2, RATE / 2, BATCH),
    },
    mnist5k_paper={
        "cell": {"n": 4000, "n_test": 1000, "source": "mnist5k"},
        # 100 epochs of batches of 500.
        "times": (0.0, 80.0),
    },
)


figure = Panels(
    Curves(
        lambda part: part["path"].isel(m=-1).sel(sample="test", quantity="error"),
        colour="matching",
        title="test error between two, m = {widest}",
    ),
    Curves(
        lambda part: part["path"].isel(m=-1).sel(sample="train", quantity="loss"),
        colour="matching",
        title="training loss (nats), m = {widest}",
    ),
    Curves(
        lambda part: barrier(part["path"]).sel(sample="test", quantity="error"),
        colour="matching",
        mark="o",
        x=evenly("m"),
        xlabel="width m",
        title="barrier of the test error",
        laws=(UNSTABLE,),
    ),
    x="alpha",
    xlabel="α, from one network to the other",
    names={"matching": NAMES},
    of=lambda ds: ds.assign_coords(widest=ds["m"].values[-1]),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """There is a barrier; reordering neurons lowers it, more in wider networks."""
    train = ds["accuracy"].isel(time=-1).sel(sample="train")
    high, widths = barrier(ds["path"]), ds["m"].values
    barriers = {
        "test error": high.sel(sample="test", quantity="error"),
        "train loss": high.sel(sample="train", quantity="loss"),
    }
    out = [smallest_of("training accuracy, smallest", train, (0.99, 1), OURS)]
    for m in widths:
        naive = barriers["test error"].sel(m=m, matching="none")
        text = f"barrier of the test error, as they are, m = {m}"
        out.append(mean_of(text, naive, (0.02, 1), FRANKLE))
    for way in MATCHINGS[1:]:
        for m in widths:
            for what, of_all in barriers.items():
                one, other = (of_all.sel(m=m, matching=k) for k in ("none", way))
                text = f"{what}: as they are − {NAMES[way]}, m = {m}"
                out.append(difference_of(text, one, other, (0, np.inf), REBASIN))
        for what, of_all in barriers.items():
            narrow, wide = (of_all.sel(matching=way).isel(m=i) for i in (0, -1))
            text = f"{what}, {NAMES[way]}: narrowest − widest"
            change = difference_of(text, narrow, wide, (0, np.inf), ENTEZARI)
            out.append(change.given(widths.size > 1, "two widths"))
        wide = barriers["test error"].sel(matching=way).isel(m=-1)
        text = f"barrier of the test error, {NAMES[way]}, at the widest"
        claim = mean_of(text, wide, (0, 0.02), STABLE)
        out.append(claim.given(widths[-1] >= 512, "m = 512"))
    return out
