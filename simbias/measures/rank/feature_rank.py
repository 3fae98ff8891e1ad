"""How many directions the last layer sees, by the entropy of the Gram matrix."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs
from simbias.network import required
from simbias.numerics.matrix_rank import spectral_entropy


class FeatureRank(AbstractMeasure):
    """Entropy of the spectrum of the last hidden layer's Gram matrix (its log rank).

    It is −Σ pᵢ ln pᵢ, pᵢ = σᵢ(K)/Σ σ(K), of K_ij = φ(xᵢ)·φ(xⱼ) over the sample.

    φ are the `features` of the network, what its last layer acts on, not centred.
    σᵢ(K) = σᵢ(Φ)², with Φ of rows φ(xᵢ).  NaN if all features are 0.

    Args:
        is_squared: False takes pᵢ = σᵢ(Φ)/Σ σ(Φ), the square roots.
        is_log: False gives the exponential, an effective number of directions.

    Reference: Huh et al. (2023), arXiv:2103.10427, section 3.
    """

    is_squared: bool = eqx.field(static=True, default=True)
    is_log: bool = eqx.field(static=True, default=True)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Entropy of the Gram matrix."""
        features = outputs(required(network, "features", "FeatureRank"), data.x)
        features = jnp.where((data.weight > 0)[:, None], features, 0)
        entropy = spectral_entropy(features, is_squared=self.is_squared)
        return entropy if self.is_log else jnp.exp(entropy)
