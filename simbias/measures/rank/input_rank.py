"""How many directions the inputs have, by the entropy of their Gram matrix."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.matrix_rank import spectral_entropy


class InputRank(AbstractMeasure):
    """Entropy of the spectrum of the inputs' Gram matrix.

    It is −Σ pᵢ ln pᵢ, pᵢ = σᵢ(K)/Σ σ(K), of K_ij = xᵢ·xⱼ over the sample.

    As `FeatureRank` of the features, which layers that are orthogonal leave at it.
    NaN if all inputs are 0.

    Reference: Huh et al. (2023), arXiv:2103.10427, section 3, for features.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Entropy of the inputs; any network."""
        x = jnp.where((data.weight > 0)[:, None], data.x, 0)
        return spectral_entropy(x, is_squared=True)
