"""One entry of the matrix of a linear network."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class MatrixEntry(AbstractMeasure):
    """One entry Wᵢⱼ of the `product` W of a linear network.

    Args:
        row: i, from 0.
        column: j, from 0.
    """

    row: int = eqx.field(static=True, default=0)
    column: int = eqx.field(static=True, default=0)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """In units of output by input."""
        return network.product[self.row, self.column]
