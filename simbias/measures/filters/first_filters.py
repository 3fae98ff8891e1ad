"""The filters of a first convolution themselves."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.filters import _first


class FirstFilters(AbstractMeasure):
    """Weights of the first convolution, over filters, channels, rows and columns.

    As large as the layer: record it at the end, or along one member.
    """

    dims: ClassVar[tuple[str, ...]] = ("filter", "channel", "row", "column")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "f c s s"]:
        """The weights as they are.

        Raises:
            ValueError: for a network without convolutions, or filters below 5 × 5.
        """
        return _first.first_filters(network)
