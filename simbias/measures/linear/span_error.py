"""How far a linear model is from X⁺y, along each eigenvector of its inputs."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._row_space import row_space, weights_of


class SpanError(AbstractMeasure):
    """Error of linear weights along each eigenvector of the inputs.

    It is vᵢ·(w − X⁺y), vᵢ an eigenvector of XᵀX in the span of the samples.

    X⁺y is the interpolator of least norm.  Needs a network with a `product` and one
    output, such as `DeepLinear`.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """By eigenvector, the largest eigenvalue first, in units of the weights."""
        space = row_space(data)
        return space.rows @ weights_of(network) - space.target
