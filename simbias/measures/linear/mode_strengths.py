"""How far each mode of a linear target has been learned."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class ModeStrengths(AbstractMeasure):
    """Strength uᵢᵀ W vᵢ of every mode of `linear_modes`, W the map of a linear network.

    vᵢ are the rows of `data.features`, uᵢ the directions of what the target makes of
    them.  Needs a network with a `product`.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " p"]:
        """Strengths, in units of the target's; sᵢ for the target itself."""
        out = target_directions(data)
        return jnp.sum(out * (data.features @ network.product.T), axis=1)


def target_directions(data: Dataset) -> Float[Array, "p k"]:
    """uᵢ = M vᵢ/|M vᵢ|, M that of a sample with white inputs and no padding."""
    mapped = data.features @ (data.x.T @ data.mean)
    return mapped / jnp.linalg.norm(mapped, axis=1, keepdims=True)
