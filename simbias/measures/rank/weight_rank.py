"""How many directions a layer has, by the entropy of its singular values."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._layer import layer_matrix
from simbias.numerics.matrix_rank import spectral_entropy


class WeightRank(AbstractMeasure):
    """Effective rank of a layer, exp(−Σ pᵢ ln pᵢ) with pᵢ = σᵢ/Σ σ.

    NaN for a layer of zeros.

    Args:
        layer: its name, as "w", "weights.0", or "layers.1.query.w".
        is_squared: pᵢ = σᵢ²/Σ σ², as in the code of Morwani et al.
        is_log: the entropy −Σ pᵢ ln pᵢ itself, as in Huh et al.

    References: Roy & Vetterli (2007), EUSIPCO; Morwani et al. (2023), arXiv:2302.00457;
    Huh et al. (2023), arXiv:2103.10427.
    """

    layer: str = eqx.field(static=True, default="w")
    is_squared: bool = eqx.field(static=True, default=False)
    is_log: bool = eqx.field(static=True, default=False)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Effective rank of the layer, or its logarithm."""
        matrix = layer_matrix(network, self.layer)
        entropy = spectral_entropy(matrix, is_squared=self.is_squared)
        return entropy if self.is_log else jnp.exp(entropy)
