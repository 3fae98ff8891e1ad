"""Norms of the layers of a linear network, and how far they are from balance and 1."""

import itertools
from itertools import accumulate
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class LayerBalance(AbstractMeasure):
    """How far neighbouring layers of a linear network are from balance.

    It is the largest of |W_{j+1}ᵀ W_{j+1} − W_j W_jᵀ|, Frobenius.

    Each of these matrices is constant under the exact gradient flow of any loss, and 0
    for balanced layers.  Needs a network with `weights`; 0 for a single layer.

    Reference: Arora, Cohen & Hazan (2018), arXiv:1802.06509.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Largest imbalance, in units of weight squared."""
        return jnp.max(
            jnp.stack([jnp.linalg.norm(part) for part in imbalances(network.weights)])
        )


def imbalances(
    weights: tuple[Float[Array, "_ _"], ...],
) -> list[Float[Array, "_ _"]]:
    """W_{j+1}ᵀ W_{j+1} − W_j W_jᵀ for every hidden layer; one 0 if there is none."""
    pairs = itertools.pairwise(weights)
    return [b.T @ b - a @ a.T for a, b in pairs] or [
        jnp.zeros((1, 1), weights[0].dtype)
    ]


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
