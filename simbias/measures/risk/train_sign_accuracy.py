"""Share of the training samples that are classified."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs


class TrainSignAccuracy(AbstractMeasure):
    """Share of the training samples with f > 0 exactly where y > 0, for all outputs.

    Targets are −1 and +1, or real numbers, of which the sign is read.  One-hot targets
    and numbers of classes have no sign, and are refused: see `ClassAccuracy`.
    """

    targets: ClassVar[str] = "signs"

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Accuracy; any network."""
        is_right = jnp.all((outputs(network, data.x) > 0) == (data.y > 0), axis=1)
        right = jnp.sum(jnp.where(is_right, data.weight, 0))
        return right / jnp.sum(data.weight)
