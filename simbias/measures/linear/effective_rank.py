"""How many singular values the matrix of a linear network has, effectively."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.matrix_rank import spectral_entropy


class EffectiveRank(AbstractMeasure):
    """Effective rank of the product of a linear network.

    It is exp(−Σ pᵢ ln pᵢ) with pᵢ = σᵢ/Σ σ.

    From 1 to min(k, d), and its rank if all that are not 0 are equal; of the singular
    values, not their squares.  NaN for a matrix of zeros.

    Args:
        is_log: the entropy −Σ pᵢ ln pᵢ itself, from 0, as in Huh et al.

    References: Roy & Vetterli (2007), The effective rank, EUSIPCO, definition 1; Huh et
    al. (2023), arXiv:2103.10427.
    """

    is_log: bool = eqx.field(static=True, default=False)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Effective rank of the product, or its logarithm."""
        entropy = spectral_entropy(network.product)
        return entropy if self.is_log else jnp.exp(entropy)
