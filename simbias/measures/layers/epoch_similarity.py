"""How similar the activations of each layer are to what they were."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures.layers._hidden import hidden
from simbias.numerics.similarity import cka, svcca


class EpochSimilarity(AbstractMeasure):
    """Similarity of every hidden layer at epoch τ and now, by SVCCA and CKA.

    NaN for an epoch to come.  The first of the `networks` of a member has `network`,
    whose hidden layers have one width, and the method `then`: that network at every one
    of the epochs, stacked.

    Args:
        epochs: those that the first network remembers.
        layers: hidden layers.

    References: Raghu et al. (2017), arXiv:1706.05806, for SVCCA; Kornblith et al.
    (2019), arXiv:1905.00414, for CKA.
    """

    epochs: tuple[int, ...] = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("index", "layer", "epoch")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 layer epoch"]:
        """Similarities in [0, 1]."""
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
        return {
            "index": np.array(["SVCCA", "CKA"]),
            "layer": np.arange(1, self.layers + 1),
            "epoch": np.array(self.epochs),
        }
