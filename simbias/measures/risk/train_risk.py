"""Mean squared error on the training sample."""

from typing import Any

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs
from simbias.losses import mse


class TrainRisk(AbstractMeasure):
    """Training error (1/n) Σᵢ |f(xᵢ) − yᵢ|², the train MSE of the papers; no ½.

    No ½, whatever the loss: with noise of variance σ² the line to compare with is σ².
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Train MSE; any network."""
        return mse(outputs(network, data.x), data.y, data.weight)
