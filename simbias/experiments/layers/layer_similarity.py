"""Lower layers settle first, and networks of two seeds share neurons.

How alike a layer's activations are to those it has at the end is measured by SVCCA and
by linear CKA, at epochs of training: the lower a layer, the sooner it is what it will
be.  Two networks that learn the same classes from different starts, on other batches,
have neurons in common, which a matching of one's to the other's finds; with a network
that learned another task, odd or even, there are fewer.

CKA is that of Kornblith, Norouzi, Lee & Hinton (2019), arXiv:1905.00414.

Reference: Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017), arXiv:1706.05806; Li et al.
(2016), arXiv:1511.07543.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.checks.values import positive_integer
from simbias.claims import difference_of, smallest_of
from simbias.core import Claim, Dataset, Experiment
from simbias.datasets.vision.images import Source, images
from simbias.experiments.layers._digits import (
    BATCH,
    CLASSES,
    RATE,
    ClassAccuracy,
    N,
    input_size,
)
from simbias.experiments.layers._remembering import EPOCHS, remembering
from simbias.experiments.layers._side_by_side import (
    SideBySide,
    shared_cross_entropy,
    side_by_side,
    with_targets,
)
from simbias.experiments.layers._similarities import (
    HIDDEN,
    INDICES,
    LAYERS,
    OTHERS,
    EpochSimilarity,
    MatchedCorrelation,
)
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.networks.dense.mlp import mlp
from simbias.presets import presets

SVCCA = "Raghu et al. (2017), arXiv:1706.05806"
CKA = f"{SVCCA}, of CKA as well: ours"
MATCHED = "Li et al. (2016), arXiv:1511.07543; the other task is ours"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
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
) -> tuple[Dataset, SideBySide]:
    """Images, and three networks: two learn the classes, one which are odd.

    The first of them remembers.
    """
    positive_integer("m", m)
    keys = jax.random.split(key, 4)
    data = images(
        keys[0], n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    assert data.test is not None
    odd = lambda y: jax.nn.one_hot(jnp.argmax(y, 1) % 2, CLASSES, dtype=y.dtype)
    same, other = (data.y, data.test.y), (odd(data.y), odd(data.test.y))
    data = with_targets(data, same, other)
    widths = (input_size(source), *[m] * HIDDEN, CLASSES)
    first, second, third = (mlp(k, widths) for k in keys[1:])
    return data, side_by_side(remembering(first, n), second, third)


def _times(steps: int, last: int) -> tuple[float, ...]:
    """Clock at the start, and after the last epoch of so many steps."""
    return (0.0, RATE * steps * last)


def _descent(batch: int) -> Descent:
    """Every network draws rows of its own."""
    return Descent(
        rate=RATE, batch=3 * batch, optimiser="momentum", sampling="replacement"
    )


experiment = presets(
    Experiment(
        name="layer_similarity",
        make=make,
        cell={"m": 128},
        seeds=20,
        flow=_descent(BATCH),
        loss=shared_cross_entropy,
        times=_times(N // BATCH, 100),
        measures={
            "accuracy": ClassAccuracy(),
            "matched_correlation": MatchedCorrelation(),
        },
        final={"similarity": EpochSimilarity()},
        dtype="float32",
    ),
    smoke={"cell": {"n": 200, "m": 32}, "seeds": 2, "times": _times(4, 100)},
    paper={
        "cell": {"m": 256, "n": 60_000, "n_test": 10_000, "source": "mnist"},
        "flow": _descent(128),
        "times": _times(469, 100),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Similarity with the end by epoch and layer; what matching finds in common."""
    with style():
        whole = blank(12.0, 3.6)
        panels = whole.subplots(1, 3)
        places = np.arange(len(EPOCHS))
        for axes, index in zip(panels, INDICES, strict=False):
            for i, layer in enumerate(LAYERS):
                values = ds["similarity"].sel(index=index, layer=layer)
                label = f"{layer}"
                band(axes, places, values, "o-", colour=COLOURS[i], label=label, ms=4)
            axes.set_xticks(places, [str(epoch) for epoch in EPOCHS])
            axes.set_xlabel("epoch")
            axes.set_title(f"{index} with the same layer at the end")
        panels[0].legend(loc="lower right", title="hidden layer")
        matched = ds["matched_correlation"]
        for i, other in enumerate(OTHERS):
            values, colour = matched.sel(other=other), COLOURS[(5, 3)[i]]
            for time, line, when in ((-1, "o-", ""), (0, "o:", ", at the start")):
                place = (panels[2], LAYERS, values.isel(time=time), line)
                band(*place, colour=colour, label=f"{other}{when}", ms=4)
        panels[2].set_xticks(LAYERS)
        panels[2].set_xlabel("hidden layer")
        panels[2].set_title("correlation of matched neurons")
        panels[2].legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Lower layers are nearer their end, and seeds share neurons."""
    train = ds["accuracy"].isel(time=-1).sel(sample="train")
    out = [smallest_of("training accuracy, smallest", train, (0.99, 1.0), "ours")]
    # Between the start and the last of the epochs.
    way = ds["similarity"].isel(epoch=slice(1, -1)).mean("epoch", skipna=False)
    for index, source in zip(INDICES, (SVCCA, CKA), strict=True):
        for lower, upper in zip(LAYERS, LAYERS[1:], strict=False):
            text = (
                f"{index} with the end, epochs 1 to 40: layer {lower} − layer {upper}"
            )
            one, other = (way.sel(index=index, layer=k) for k in (lower, upper))
            out.append(difference_of(text, one, other, (0.0, 1.0), source))
    for layer in LAYERS:
        shared = ds["matched_correlation"].sel(layer=layer)
        same, other = (shared.sel(other=k) for k in OTHERS)
        text = f"matched correlation, same task − another task, layer {layer}"
        out.append(
            difference_of(
                text, same.isel(time=-1), other.isel(time=-1), (0.0, 1.0), MATCHED
            )
        )
        text = f"control: the same at the start, layer {layer}"
        out.append(
            difference_of(
                text, same.isel(time=0), other.isel(time=0), (-0.02, 0.02), "ours"
            )
        )
    return out
