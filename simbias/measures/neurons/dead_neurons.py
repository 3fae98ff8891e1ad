"""Neurons that see no sample."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import is_active


class DeadNeurons(AbstractMeasure):
    """Share of the neurons with wⱼ·xᵢ + bⱼ ≤ 0 on every training sample.

    For ReLU they receive no gradient and contribute nothing on the sample.  For other
    activations the definition is the same and says only on which side they lie.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Share in [0, 1]."""
        is_dead = ~jnp.any(is_active(network, data), axis=0)
        return jnp.mean(is_dead.astype(network.w.dtype))
