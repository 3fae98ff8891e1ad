"""What grows of each mode of a linear target while the network is small."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear.mode_strengths import target_directions


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
