"""How many singular values the matrix of a linear network has, effectively."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics import matrix_rank


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
        return matrix_rank.effective_rank(network.product)
