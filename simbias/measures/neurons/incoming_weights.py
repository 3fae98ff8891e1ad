"""Weights from the inputs to the neurons."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class IncomingWeights(AbstractMeasure):
    """Incoming weights wⱼ of the hidden neurons of a two-layer network, without biases.

    As large as the network: record it at the end, or for few neurons.
    """

    dims: ClassVar[tuple[str, ...]] = ("neuron", "input")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "m d"]:
        """One row for each neuron."""
        return network.w
