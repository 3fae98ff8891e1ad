"""Mean squared error on the test sample."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.losses import mse


class TestRisk(AbstractMeasure):
    """Test error (1/n') Σᵢ |f(xᵢ) − yᵢ|², noise included; no ½.

    No ½, whatever the loss: the best possible value is the variance σ² of the noise.
    """

    # The name begins like a test; pytest would collect it.
    __test__: ClassVar[bool] = False

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Test MSE; any network."""
        test = second_sample(data)
        return mse(outputs(network, test.x), test.y, test.weight)
