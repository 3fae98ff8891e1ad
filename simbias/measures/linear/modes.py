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


class EarlyStrengths(AbstractMeasure):
    """Strength of every mode of `linear_modes` while the product is small.

    For two layers |(W₁v + W₂ᵀu)/2|².  Once |(W₁v − W₂ᵀu)/2|² has decayed, the strength
    uᵀWv is about that.  For other depths it is the strength itself, as of
    `ModeStrengths`.  Needs a network with `weights` and a `product`.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " p"]:
        """One number per mode, in units of the target's strengths."""
        u, v = target_directions(data), data.features
        if len(network.weights) != 2:
            return jnp.sum(u * (v @ network.product.T), axis=1)
        first, second = network.weights
        return jnp.sum((v @ first.T + u @ second) ** 2, axis=1) / 4
