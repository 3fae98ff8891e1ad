"""How much of the first layer points along the direction of early alignment."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._layer import layer_matrix


class FirstLayerAlignment(AbstractMeasure):
    """Share of the first layer along the mean gradient direction D = (1/n) Σ yᵢxᵢ.

    It is ‖W₁D‖²/(‖W₁‖²‖D‖²).

    D is ∂L/∂w at the start for a neuron that is active everywhere, up to its sign: the
    direction of early alignment.  1/d on average for a layer of independent entries.

    Args:
        layer: name of a matrix that acts on the inputs.
    """

    layer: str = eqx.field(static=True, default="w")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """From 0 to 1; NaN for a layer, or a D, of zeros."""
        w = layer_matrix(network, self.layer)
        along = data.x.T @ (data.weight * data.y[:, 0])
        total = jnp.sum(w**2) * jnp.sum(along**2)
        share = jnp.sum((w @ along) ** 2) / jnp.where(total > 0, total, 1)
        return jnp.where(total > 0, share, jnp.nan)
