"""A loss on the training sample."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Loss
from simbias.introspection.outputs import outputs
from simbias.losses import half_mse


class TrainLoss(AbstractMeasure):
    """Training loss L(θ), with the factors ½ and 1/n that the given loss has.

    The value that decreases along the flow when `loss` is the one it descends.
    """

    loss: Loss = eqx.field(static=True, default=half_mse)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Loss on the training sample; any network."""
        return self.loss(outputs(network, data.x), data.y, data.weight)
