"""The weights themselves, for a closer look at one member."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import incoming


class NeuronWeights(AbstractMeasure):
    """Weights (wⱼ, bⱼ, aⱼ) of every neuron of a two-layer network; no bⱼ without bias.

    As large as the network: record it at the end, or along one member.
    """

    dims: ClassVar[tuple[str, ...]] = ("neuron", "weight")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "m e"]:
        """All weights, neuron by neuron."""
        return jnp.concatenate([incoming(network), network.a], axis=1)
