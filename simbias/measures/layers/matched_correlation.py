"""How many neurons the layers of two networks have in common."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures.layers._hidden import hidden
from simbias.numerics import similarity


class MatchedCorrelation(AbstractMeasure):
    """Mean correlation of the first network's neurons with their partners, by layer.

    Partners are those of the one-to-one matching with the largest mean, on the test
    set.  The first of the `networks` of a member has its layers in `network`.

    Args:
        others: what the further networks are called.
        layers: hidden layers, all of one width.

    Reference: Li et al. (2016), arXiv:1511.07543.
    """

    others: tuple[str, ...] = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("other", "layer")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "other layer"]:
        """Correlations in [−1, 1]."""
        test = second_sample(data)
        weight = test.weight.astype(jnp.result_type(float))
        one, *others = network.networks
        mine = hidden(one.network, test)
        pairs = [(mine, hidden(other, test)) for other in others]
        both = jax.tree.map(lambda *v: jnp.concatenate(v), *pairs)
        matched = lambda pair: similarity.matched_correlation(pair[0], pair[1], weight)
        found = jax.lax.map(matched, both)
        return found.reshape(len(others), -1)

    def coords(self) -> dict[str, np.ndarray]:
        """The other networks, hidden layers from 1."""
        layer = np.arange(1, self.layers + 1)
        return {"other": np.array(self.others), "layer": layer}
