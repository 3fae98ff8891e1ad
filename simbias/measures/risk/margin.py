"""The smallest margin of the sample."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs


class Margin(AbstractMeasure):
    """Smallest margin, min over samples and outputs of yᵢ f(xᵢ), labels y ∈ {−1, +1}.

    Not normalised: divide by ‖θ‖² = 2 · `ParameterNorm` for a two-layer network.

    Reference: Lyu & Li (2020), arXiv:1906.05890.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Positive once every sample is on its side."""
        margins = jnp.min(data.y * outputs(network, data.x), axis=1)
        return jnp.min(jnp.where(data.weight > 0, margins, jnp.inf))
