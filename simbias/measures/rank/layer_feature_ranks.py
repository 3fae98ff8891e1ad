"""How many directions each hidden layer sees, by the entropy of its Gram matrix."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


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
