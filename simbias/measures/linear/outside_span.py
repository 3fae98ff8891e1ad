"""The part of a linear model that its samples do not see."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._row_space import row_space, weights_of


class OutsideSpan(AbstractMeasure):
    """Part of the weights that no sample sees: P⊥w, orthogonal to all inputs.

    Needs a network with a `product` and one output, such as `DeepLinear`.
    """

    dims: ClassVar[tuple[str, ...]] = ("input",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " d"]:
        """A vector of inputs, in units of the weights."""
        rows, w = row_space(data).rows, weights_of(network)
        # Twice, so that what is left of the span is of the order of rounding of P⊥w.
        w = w - rows.T @ (rows @ w)
        return w - rows.T @ (rows @ w)
