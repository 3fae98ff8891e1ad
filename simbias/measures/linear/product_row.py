"""The vector that one output of a linear network is."""

from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class ProductRow(AbstractMeasure):
    """Row of W_N ⋯ W_1, the `product` of a linear network: f(x)_k = (that)·x.

    Args:
        output: k, number of the output.
    """

    output: int = eqx.field(static=True, default=0)
    dims: ClassVar[tuple[str, ...]] = ("input",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " input"]:
        """In units of output by input."""
        return network.product[self.output]
