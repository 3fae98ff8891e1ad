"""Entropy of the features of a network, of its layers, and of the inputs."""

from typing import Any, ClassVar

import equinox as eqx
import jax
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


class LayerFeatureRanks(AbstractMeasure):
    """Entropy of the spectrum of every hidden layer's Gram matrix, as `FeatureRank`.

    It is −Σ p ln p of K = ΦΦᵀ/Σ σ(K).

    From the eigenvalues of ΦᵀΦ, which are those of K that are not 0.  Of a network that
    has `activations`.

    Reference: Huh et al. (2023), arXiv:2103.10427, section 3.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """The first hidden layer first."""
        layers = jax.vmap(network.activations)(data.x)

        def entropy(features: Array) -> Array:
            features = jnp.where((data.weight > 0)[:, None], features, 0)
            values = jnp.linalg.eigvalsh(features.T @ features)
            values = jnp.maximum(values, 0)
            return jnp.sum(jax.scipy.special.entr(values / jnp.sum(values)))

        return jnp.stack([entropy(phi) for phi in layers])


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
