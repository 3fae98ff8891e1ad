"""How far the factors of the gradient of a deep linear network are from 1."""

from itertools import accumulate
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class ScaleMatrices(AbstractMeasure):
    """How far the factors of the gradient, A_l E B_l, are from 1.

    ‖A_l − 1‖_F/√K with A_l = (W_L ⋯ W_{l+1})(⋯)ᵀ, and ‖B_l − 1‖_F/√d with
    B_l = (W_{l−1} ⋯ W_1)ᵀ(⋯): means over the layers that have one.  Needs a network
    with `weights`, such as `DeepLinear`.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 2.
    """

    dims: ClassVar[tuple[str, ...]] = ("side",)
    entries: ClassVar = {"side": ("A", "B")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " side"]:
        """Without units; 0 for a single layer, which has no such factors."""
        forward = [w for w in network.weights[:-1]]
        below = list(accumulate(forward, lambda total, w: w @ total))
        above = list(accumulate(network.weights[:0:-1], lambda total, w: total @ w))

        def far(grams: list[Any]) -> Array:
            gaps = [jnp.linalg.norm(g - jnp.eye(len(g))) / len(g) ** 0.5 for g in grams]
            return jnp.mean(jnp.stack(gaps)) if gaps else jnp.zeros(())

        return jnp.stack([far([a @ a.T for a in above]), far([b.T @ b for b in below])])
