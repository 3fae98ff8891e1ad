"""Share of a sample that is classified by the signs of the outputs."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample


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


class TestSignAccuracy(AbstractMeasure):
    """Share of the test sample with f > 0 exactly where y > 0, for all outputs.

    Targets are as for `TrainSignAccuracy`.
    """

    test_targets: ClassVar[str] = "signs"
    # The name begins like a test; pytest would collect it.
    __test__: ClassVar[bool] = False

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Accuracy; any network."""
        return TrainSignAccuracy()(network, second_sample(data))
