"""Squared distance to the law's own mean, on the test sample."""

from typing import Any

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.losses import mse


class ExcessRisk(AbstractMeasure):
    """Excess risk (1/n') Σᵢ |f(xᵢ) − E[y | xᵢ]|² on the test inputs; no ½.

    Test risk minus the variance of the noise, without the noise's own fluctuation: 0
    for the best possible predictor.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Excess risk; any network."""
        test = second_sample(data)
        return mse(outputs(network, test.x), test.mean, test.weight)
