"""Squared norm of each layer, whose differences the gradient flow conserves."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class LayerNorms(AbstractMeasure):
    """Squared norm of every matrix of `weights`, ‖W‖²_F.

    The exact gradient flow keeps ‖W_{l+1}‖²_F − ‖W_l‖²_F for neighbouring layers that
    are linear, or have a ReLU between them.

    Reference: Du, Hu & Lee (2018), arXiv:1806.00900, corollary 2.1.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        return jnp.stack([jnp.sum(w**2) for w in network.weights])
