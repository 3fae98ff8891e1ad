"""How many singular values the matrix of a linear network has, effectively."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jax.scipy.special import entr
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class EffectiveRank(AbstractMeasure):
    """exp(−Σ pᵢ ln pᵢ), pᵢ = σᵢ/Σ σ, of the `product` of a linear network.

    From 1 to min(k, d), and its rank if all that are not 0 are equal; of the singular
    values, not their squares.  NaN for a matrix of zeros.

    Reference: Roy & Vetterli (2007), The effective rank, EUSIPCO, definition 1.
    """

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Effective rank of the product."""
        del data
        values = jnp.linalg.svd(network.product, compute_uv=False)
        total = jnp.sum(values)
        shares = jnp.where(total > 0, values / jnp.where(total > 0, total, 1), jnp.nan)
        return jnp.exp(jnp.sum(entr(shares)))
