"""Test accuracy with one layer set back to what it was, or drawn again."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.core import AbstractMeasure, Dataset, Index
from simbias.introspection.outputs import classified_share, second_sample

REDRAWN = -1
"""In place of an epoch: the layer is drawn again."""


class ResetAccuracy(AbstractMeasure):
    """Test accuracy with layer l set back to epoch τ; NaN for an epoch to come.

    Epoch −1 stands for the layer drawn again.  The member has `network`, fully
    connected, and the methods `then`, that network at every one of the epochs, stacked,
    and `drawn_again`, another one from the law of the start.

    Args:
        epochs: those that the member remembers.
        layers: that are set back, from the first.

    Reference: Zhang, Bengio & Singer (2022), arXiv:1902.01996.
    """

    epochs: tuple[int, ...] = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("layer", "epoch")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "layer epoch"]:
        """Accuracies in [0, 1]."""
        test, now = second_sample(data), network.network
        pairs = (network.drawn_again(), network.then())
        others = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), *pairs)

        def at(place: Int[Array, "2"]) -> Float[Array, ""]:
            other = jax.tree.map(lambda v: v[place[1]], others)
            found = classified_share(with_layer(now, place[0], other), test)
            return jnp.where(jnp.isnan(other.biases[0][0]), jnp.nan, found)

        shape = (self.layers, len(self.epochs) + 1)
        places = jnp.asarray(np.argwhere(np.ones(shape)), jnp.int32)
        # One network after another: a vectorised map would hold all activations.
        return jax.lax.map(at, places).reshape(shape)

    def coords(self) -> dict[str, np.ndarray]:
        """Layers from 1, the last is that of the outputs; epochs, −1 first."""
        layer = np.arange(1, self.layers + 1)
        return {"layer": layer, "epoch": np.array([REDRAWN, *self.epochs])}


def with_layer(network: Any, layer: Index, other: Any) -> Any:
    """The network with one layer, weights and biases, of another; from 0."""

    def chosen(mine: tuple, theirs: tuple) -> tuple:
        pairs = enumerate(zip(mine, theirs, strict=True))
        return tuple(jnp.where(layer == i, new, old) for i, (old, new) in pairs)

    weights = chosen(network.weights, other.weights)
    biases = chosen(network.biases, other.biases)
    return dataclasses.replace(network, weights=weights, biases=biases)
