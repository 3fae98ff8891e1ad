"""Layer resets: layers set back to their initialisation, or drawn again.

After training, one layer of a network is set back to its weights at epoch τ, or redrawn
from the law of the initialisation.  Nothing is trained afterwards.  Set back to their
initialisation, most layers cost little accuracy.  In a fully connected network on MNIST
only the first layer is critical.  A redrawn layer destroys the network, whichever layer
it is: the network depends on its own initial weights.

The published numbers are for MNIST (preset `paper`).  `quick` uses 8 × 8 digits
instead, and its bands of size are ours.  The presets `mnist5k` and `fashion` use 1000
digits of MNIST, from a Python package, and 1000 photographs of Fashion-MNIST, from a
package of Debian.  The arXiv preprint of the reference could not be read; bands are
those of an independent replica (FC3 on MNIST, one network).

Reference: Zhang, Bengio & Singer (2022), JMLR 23, arXiv:1902.01996.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, difference_of, largest_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.datasets.vision.images import Source, images
from simbias.experiment_presets import presets
from simbias.experiments.layers._digits import BATCH, CLASSES, RATE, N, input_size
from simbias.experiments.layers._remembering import EPOCHS, remembering
from simbias.figures import Curves, Law, Panels, Points, evenly
from simbias.flows import Descent
from simbias.losses import cross_entropy
from simbias.measures import AccuracyOfEach, LayerDistance
from simbias.measures.layers.reset_accuracy import REDRAWN, ResetAccuracy
from simbias.networks import mlp
from simbias.validation.values import positive_integer

PAPER = "Zhang, Bengio & Singer (2022), arXiv:1902.01996 (?)"
HALF = f"{PAPER}; ½ ours"
OURS = "ours"
REPLICA = "a replica, FC3 on MNIST, one network; the band's width is ours"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
HIDDEN = 3
LAYERS = range(1, HIDDEN + 2)
# What the figure and the claims read.
AXES = ()


def make(
    key: PRNGKeyArray,
    *,
    n: int = N,
    n_test: int = 597,
    m: int = 128,
    source: Source = "digits",
    data_dir: str = "",
    verify: bool = True,
) -> tuple[Dataset, AbstractNetwork]:
    """Images in ten classes, and a network of three hidden layers with its past."""
    positive_integer("m", m)
    key_data, key_network, key_spare = jax.random.split(key, 3)
    data = images(
        key_data, n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    widths = (input_size(source), *[m] * HIDDEN, CLASSES)
    network, spare = (mlp(k, widths) for k in (key_network, key_spare))
    return data, remembering(network, n, spare)


def _times(steps: int, last: int) -> tuple[float, ...]:
    """Times of the epochs of `EPOCHS` before the last one, and of the last one."""
    epochs = [*(k for k in EPOCHS if k < last), last]
    return tuple(RATE * steps * k for k in epochs)


experiment = presets(
    Experiment(
        name="layer_resets",
        make=make,
        cell={"m": 128},
        seeds=20,
        flow=Descent(rate=RATE, batch=BATCH, optimiser="momentum"),
        loss=cross_entropy,
        times=_times(N // BATCH, 100),
        measures={"accuracy": AccuracyOfEach(CLASSES)},
        final={
            "reset_accuracy": ResetAccuracy(EPOCHS, len(LAYERS)),
            "layer_distance": LayerDistance(len(LAYERS)),
        },
        dtype="float32",
    ),
    smoke={"cell": {"n": 200, "m": 64}, "seeds": 6, "times": _times(4, 100)},
    paper={
        "cell": {"m": 256, "n": 60_000, "n_test": 10_000, "source": "mnist"},
        "flow": Descent(rate=RATE, batch=128, optimiser="momentum"),
        "times": _times(469, 100),
    },
    mnist5k={"cell": {"source": "mnist5k"}},
    mnist5k_paper={
        "cell": {"n": 4000, "n_test": 1000, "source": "mnist5k"},
        "times": _times(32, 100),
    },
    fashion={"cell": {"source": "fashion"}},
    fashion_paper={"cell": {"source": "fashion"}},
)


def at_the_end(ds: xr.Dataset, sample: str) -> xr.DataArray:
    """Final accuracy of the trained network."""
    return ds["accuracy"].isel(time=-1, network=0).sel(sample=sample)


figure = Panels(
    Curves(
        lambda part: part["reset_accuracy"].sel(epoch=list(EPOCHS)),
        colour="layer",
        mark="o",
        x=lambda part: evenly("epoch")(part.sel(epoch=list(EPOCHS))),
        xlabel="layer set back to epoch τ",
        title="test accuracy, one layer set back",
        laws=(Law(lambda ds: at_the_end(ds, "test").median("seed"), "none set back"),),
    ),
    Curves(
        lambda part: part["reset_accuracy"].sel(epoch=[0, REDRAWN]),
        colour="epoch",
        mark="o",
        first_colour=len(LAYERS),
        ylim=(0, 1.02),
        title="… or drawn again",
        laws=(Law(1 / CLASSES, "chance", ":"),),
    ),
    Points(
        lambda part: at_the_end(part, "test") - part["reset_accuracy"].sel(epoch=0),
        colour="layer",
        x=lambda part: part["layer_distance"].sel(norm="2"),
        xlabel="distance from the start ‖θ(T) − θ(0)‖₂",
        title="accuracy lost, layer at its start",
    ),
    x=evenly("layer"),
    xlabel="layer",
    names={"epoch": {0: "at its start", REDRAWN: "drawn again"}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The first layer costs most, the others little; a redrawn layer destroys all."""
    train, test = (at_the_end(ds, sample) for sample in ("train", "test"))
    back = ds["reset_accuracy"]
    first, others = back.sel(layer=1), back.sel(layer=slice(2, None), epoch=0)
    late, redrawn = back.sel(epoch=EPOCHS[-1]), back.sel(epoch=REDRAWN)
    apart = "accuracy with the worst other layer at its start − with layer 1"
    worst, mean = others.min("layer", skipna=False), others.mean("layer")
    changed = f"control: accuracy changed, a layer back at epoch {EPOCHS[-1]}, largest"
    ours = Claims().rows(
        smallest_of("training accuracy, smallest", train, (0.99, 1), OURS),
        difference_of(apart, worst, first.sel(epoch=0), (0, 1), PAPER),
        mean_of(
            "accuracy lost, another layer at its start", test - mean, (0, 0.05), OURS
        ),
        *(
            mean_of(f"accuracy with layer {k} drawn again", seen, (0, 0.5), HALF)
            for k, seen in zip(LAYERS, redrawn.transpose("layer", ...), strict=True)
        ),
        largest_of(changed, np.abs(late - test), (0, 0.01), OURS),
    )
    rows = (
        ("test accuracy", test, 0.985, 0.01),
        ("accuracy with layer 1 at its start", first.sel(epoch=0), 0.543, 0.1),
        ("accuracy with another layer at its start", mean, 0.965, 0.02),
        ("accuracy with layer 1 at epoch 2", first.sel(epoch=2), 0.977, 0.01),
    )
    published = [
        mean_of(f"MNIST: {text}", seen, (value - reach, value + reach), REPLICA)
        for text, seen, value, reach in rows
    ]
    is_mnist = ds["source"].item() == "mnist"
    return ours + Claims(needs={"source = mnist": is_mnist}).rows(*published)
