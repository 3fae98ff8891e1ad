"""How alike the activations of two networks are, by layer."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.experiments.layers._remembering import EPOCHS
from simbias.introspection.outputs import second_sample
from simbias.numerics.similarity import cka, matched_correlation, svcca

HIDDEN = 3
LAYERS = np.arange(1, HIDDEN + 1)
INDICES = np.array(["SVCCA", "CKA"])
OTHERS = np.array(["same task", "another task"])


def hidden(network: Any, data: Dataset) -> Float[Array, "layer n m"]:
    """Activations of all hidden layers, in double precision where it is on."""
    double = lambda v: v.astype(jnp.result_type(float))
    network = jax.tree.map(double, network)
    layers = jax.vmap(lambda x: jnp.stack(network.activations(x)))(double(data.x))
    return jnp.moveaxis(layers, 1, 0)


class EpochSimilarity(AbstractMeasure):
    """SVCCA and CKA of every hidden layer at epoch τ with itself now, on the test set.

    NaN for an epoch to come.
    """

    dims: ClassVar[tuple[str, ...]] = ("index", "layer", "epoch")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer epoch"]:
        """Similarities in [0, 1]; the first of the networks remembers."""
        test, one = second_sample(data), network.networks[0]
        weight = test.weight.astype(jnp.result_type(float))
        now = hidden(one.network, test)

        def of_layer(pair: tuple[Array, Array]) -> Float[Array, "2"]:
            then, now = pair
            return jnp.stack([svcca(then, now, weight), cka(then, now, weight)])

        def at(then: Any) -> Float[Array, "layer 2"]:
            return jax.lax.map(of_layer, (hidden(then, test), now))

        return jnp.moveaxis(jax.lax.map(at, one.then()), 0, 2).swapaxes(0, 1)

    def coords(self) -> dict[str, np.ndarray]:
        """Indices, hidden layers from 1, epochs."""
        return {"index": INDICES, "layer": LAYERS, "epoch": np.array(EPOCHS)}


class MatchedCorrelation(AbstractMeasure):
    """Mean correlation of the first network's neurons with their partners, by layer.

    Of the network of the same task, and of that of another; on the test set.
    """

    dims: ClassVar[tuple[str, ...]] = ("other", "layer")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer"]:
        """Correlations in [−1, 1]."""
        test = second_sample(data)
        weight = test.weight.astype(jnp.result_type(float))
        one, *others = network.networks
        mine = hidden(one.network, test)
        pairs = [(mine, hidden(other, test)) for other in others]
        both = jax.tree.map(lambda *v: jnp.concatenate(v), *pairs)
        matched = lambda pair: matched_correlation(pair[0], pair[1], weight)
        found = jax.lax.map(matched, both)
        return found.reshape(len(others), -1)

    def coords(self) -> dict[str, np.ndarray]:
        """The two tasks, hidden layers from 1."""
        return {"other": OTHERS, "layer": LAYERS}
