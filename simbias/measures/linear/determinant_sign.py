"""Sign of the determinant of the matrix of a network."""

from typing import Any

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class DeterminantSign(AbstractMeasure):
    """Sign of det W, as the network knows it: its `orientation`.

    A network in coordinates in which the sign cannot change has it exactly; of factors
    it is that of their determinants multiplied.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """+1 or −1; 0 for a determinant of 0."""
        return network.orientation
