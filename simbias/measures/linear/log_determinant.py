"""Logarithm of the determinant of the matrix of a network."""

from typing import Any

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class LogDeterminant(AbstractMeasure):
    """Logarithm of |det W|, as the network knows it: its `log_determinant`.

    The determinant may be smaller than any float.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Natural logarithm; −∞ for a determinant of 0."""
        return network.log_determinant
