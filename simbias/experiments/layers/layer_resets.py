"""Layers set back to their start: the first matters most; drawn again, all do.

After training, one layer of a network is set back to what it was at epoch τ, or drawn
again from the law of the start; nothing is trained again.  Set back to their own start
most layers cost little: they have learned something that their start does almost as
well; of a fully connected network on MNIST only the first layer is critical.  Drawn
again, every layer destroys the network: what it starts from is part of what it is.

The published numbers are of MNIST (preset `paper`); in `quick` 8 × 8 digits stand for
it, and bands of size are ours.  The arXiv preprint of the reference could not be read;
bands are those of an independent replica (FC3 on MNIST, one network).

Reference: Zhang, Bengio & Singer (2022), JMLR 23, arXiv:1902.01996.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int, PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.checks.values import positive_integer
from simbias.claims import difference_of, largest_of, mean_of, smallest_of
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Index,
)
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
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.introspection.outputs import classified_share, second_sample
from simbias.losses import cross_entropy
from simbias.networks.dense.mlp import Mlp, mlp
from simbias.presets import presets

PAPER = "Zhang, Bengio & Singer (2022), arXiv:1902.01996 (?)"
OURS = "ours"
REPLICA = "a replica, FC3 on MNIST, one network; the band's width is ours"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 20.0
HIDDEN = 3
LAYERS = HIDDEN + 1
_LAYERS = np.arange(1, LAYERS + 1)
# In place of an epoch: the layer is drawn again.
REDRAWN = -1
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
    """Images in ten classes, and a network of three hidden layers that remembers."""
    positive_integer("m", m)
    key_data, key_network, key_spare = jax.random.split(key, 3)
    data = images(
        key_data, n=n, n_test=n_test, source=source, data_dir=data_dir, verify=verify
    )
    widths = (input_size(source), *[m] * HIDDEN, CLASSES)
    network, spare = (mlp(k, widths) for k in (key_network, key_spare))
    return data, remembering(network, n, spare)


def with_layer(network: Mlp, layer: Index, other: Mlp) -> Mlp:
    """The network with one layer, weights and biases, of another; from 0."""

    def chosen(mine: tuple, theirs: tuple) -> tuple:
        pairs = enumerate(zip(mine, theirs, strict=True))
        return tuple(jnp.where(layer == i, new, old) for i, (old, new) in pairs)

    weights = chosen(network.weights, other.weights)
    return Mlp(weights, chosen(network.biases, other.biases), network.activation)


class ResetAccuracy(AbstractMeasure):
    """Test accuracy with layer l set back to epoch τ; NaN for an epoch to come.

    The first of all entries is that of the layer drawn again, epoch −1.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer", "epoch")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "layer epoch"]:
        """Accuracies; a network that remembers and has a spare one."""
        test, now = second_sample(data), network.network
        pairs = (network.drawn_again(), network.then())
        others = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), *pairs)

        def at(place: Int[Array, "2"]) -> Float[Array, ""]:
            other = jax.tree.map(lambda v: v[place[1]], others)
            found = classified_share(with_layer(now, place[0], other), test)
            return jnp.where(jnp.isnan(other.biases[0][0]), jnp.nan, found)

        shape = (LAYERS, len(EPOCHS) + 1)
        places = jnp.asarray(np.argwhere(np.ones(shape)), jnp.int32)
        # One network after another: a vectorised map would hold all activations.
        return jax.lax.map(at, places).reshape(shape)

    def coords(self) -> dict[str, np.ndarray]:
        """Layers from 1, the last is that of the outputs; epochs."""
        return {"layer": _LAYERS, "epoch": np.array([REDRAWN, *EPOCHS])}


class LayerDistance(AbstractMeasure):
    """‖θ_l(T) − θ_l(0)‖, of weights and biases together, in two norms."""

    dims: ClassVar[tuple[str, ...]] = ("norm", "layer")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer"]:  # noqa: ARG002
        """Euclidean norm, and largest entry; a network that remembers."""
        start = jax.tree.map(lambda v: v[0], network.then())
        moved = jax.tree.map(jnp.subtract, network.network, start)
        layers = zip(moved.weights, moved.biases, strict=True)
        flat = [jnp.concatenate([w.ravel(), b]) for w, b in layers]
        length = jnp.stack([jnp.linalg.norm(v) for v in flat])
        return jnp.stack([length, jnp.stack([jnp.max(jnp.abs(v)) for v in flat])])

    def coords(self) -> dict[str, np.ndarray]:
        """Norms 2 and ∞; layers from 1."""
        return {"norm": np.array(["2", "∞"]), "layer": _LAYERS}


def _times(steps: int, last: int) -> tuple[float, ...]:
    """Clock after the epochs of so many steps, up to the last one."""
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
        measures={"accuracy": ClassAccuracy()},
        final={
            "reset_accuracy": ResetAccuracy(),
            "layer_distance": LayerDistance(),
        },
        dtype="float32",
    ),
    smoke={"cell": {"n": 200, "m": 64}, "seeds": 6, "times": _times(4, 100)},
    paper={
        "cell": {"m": 256, "n": 60_000, "n_test": 10_000, "source": "mnist"},
        "flow": Descent(rate=RATE, batch=128, optimiser="momentum"),
        "times": _times(469, 100),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Accuracy by how far a layer is set back; drawn again; how far each moved."""
    with style():
        whole = blank(12.0, 3.6)
        left, middle, right = whole.subplots(1, 3)
        _by_epoch(left, ds)
        _by_layer(middle, ds)
        _by_distance(right, ds)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The first layer costs most, the others little; drawn again all destroy."""
    end = ds["accuracy"].isel(time=-1, network=0)
    test, back = end.sel(sample="test"), ds["reset_accuracy"]
    start, redrawn = back.sel(epoch=0), back.sel(epoch=REDRAWN)
    first, others = start.sel(layer=1), start.sel(layer=slice(2, None))
    worst, lost = others.min("layer", skipna=False), test - others.mean("layer")
    late = np.abs(back.sel(epoch=EPOCHS[-1]) - test)
    out = [
        smallest_of(
            "training accuracy, smallest", end.sel(sample="train"), (0.99, 1), OURS
        ),
        difference_of(
            "accuracy with the worst other layer at its start − with layer 1",
            worst,
            first,
            (0.0, 1.0),
            PAPER,
        ),
        mean_of("accuracy lost, another layer at its start", lost, (0.0, 0.05), OURS),
        *(
            mean_of(
                f"accuracy with layer {k} drawn again",
                v,
                (0.0, 0.5),
                f"{PAPER}; ½ ours",
            )
            for k, v in zip(_LAYERS, redrawn.transpose("layer", ...), strict=True)
        ),
        largest_of(
            f"control: accuracy changed, a layer back at epoch {EPOCHS[-1]}, largest",
            late,
            (0.0, 0.01),
            OURS,
        ),
    ]
    rows = [
        ("test accuracy", test, 0.985, 0.01),
        ("accuracy with layer 1 at its start", first, 0.543, 0.1),
        ("accuracy with another layer at its start", others.mean("layer"), 0.965, 0.02),
        ("accuracy with layer 1 at epoch 2", back.sel(layer=1, epoch=2), 0.977, 0.01),
    ]
    is_mnist = ds["source"].item() == "mnist"
    published = [
        mean_of(f"MNIST: {text}", seen, (at - reach, at + reach), REPLICA)
        for text, seen, at, reach in rows
    ]
    return out + [claim.given(is_mnist, "source = mnist") for claim in published]


def _by_epoch(axes: Axes, ds: xr.Dataset) -> None:
    places = np.arange(len(EPOCHS))
    for i, layer in enumerate(_LAYERS):
        values = ds["reset_accuracy"].sel(layer=layer, epoch=list(EPOCHS))
        band(axes, places, values, "o-", colour=COLOURS[i], label=f"{layer}", ms=4)
    test = ds["accuracy"].isel(time=-1, network=0).sel(sample="test").median("seed")
    law_level(axes, float(test))
    axes.set_xticks(places, [str(epoch) for epoch in EPOCHS])
    axes.set_xlabel("layer set back to epoch τ")
    axes.set_title("test accuracy, one layer set back")
    axes.legend(loc="lower right", title="layer")


def _by_layer(axes: Axes, ds: xr.Dataset) -> None:
    kinds = {0: "at its start", REDRAWN: "drawn again"}
    for i, (epoch, label) in enumerate(kinds.items()):
        values = ds["reset_accuracy"].sel(epoch=epoch)
        band(axes, _LAYERS, values, "o-", colour=COLOURS[5 - i], label=label, ms=4)
    law_level(axes, 1 / CLASSES)
    axes.set_ylim(0, 1.02)
    axes.set_xticks(_LAYERS)
    axes.set_xlabel("layer")
    axes.set_title("… or drawn again (dotted: chance)")
    axes.legend(loc="center right")


def _by_distance(axes: Axes, ds: xr.Dataset) -> None:
    test = ds["accuracy"].isel(time=-1, network=0).sel(sample="test")
    lost = test - ds["reset_accuracy"].sel(epoch=0)
    moved = ds["layer_distance"].sel(norm="2")
    for i, layer in enumerate(_LAYERS):
        at = {"layer": layer}
        axes.plot(moved.sel(at), lost.sel(at), "o", ms=4, color=COLOURS[i])
    axes.set_xlabel("distance from the start ‖θ(T) − θ(0)‖₂")
    axes.set_title("accuracy lost, layer at its start")
