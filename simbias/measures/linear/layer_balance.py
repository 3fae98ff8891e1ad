"""What gradient flow conserves between the layers of a linear network."""

import itertools
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class LayerBalance(AbstractMeasure):
    """How far neighbouring layers of a linear network are from balance.

    It is the largest of |W_{j+1}ᵀ W_{j+1} − W_j W_jᵀ|, Frobenius.

    Each of these matrices is constant under the exact gradient flow of any loss, and 0
    for balanced layers.  Needs a network with `weights`; 0 for a single layer.

    Reference: Arora, Cohen & Hazan (2018), arXiv:1802.06509.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Largest imbalance, in units of weight squared."""
        return jnp.max(
            jnp.stack([jnp.linalg.norm(part) for part in imbalances(network.weights)])
        )


def imbalances(
    weights: tuple[Float[Array, "_ _"], ...],
) -> list[Float[Array, "_ _"]]:
    """W_{j+1}ᵀ W_{j+1} − W_j W_jᵀ for every hidden layer; one 0 if there is none."""
    pairs = itertools.pairwise(weights)
    return [b.T @ b - a @ a.T for a, b in pairs] or [
        jnp.zeros((1, 1), weights[0].dtype)
    ]
