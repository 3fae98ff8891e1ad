"""How many directions each layer of a convolutional network has, multiplied out."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.matrix_rank import spectral_entropy


class FoldedRanks(AbstractMeasure):
    """Entropy of the singular values of every layer of `folded()`.

    It is −Σ pᵢ ln pᵢ with pᵢ = σᵢ/Σ σ.

    For a network whose layers are products: `folded` gives the same function with a
    layer each, a `Convolutional`.  A kernel is a matrix of its outputs × all else.
    NaN for a layer of zeros.

    Reference: Huh et al. (2023), arXiv:2103.10427.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        whole = network.folded()
        layers = (*whole.kernels, whole.w, whole.a)
        return jnp.stack([spectral_entropy(v.reshape(len(v), -1)) for v in layers])
