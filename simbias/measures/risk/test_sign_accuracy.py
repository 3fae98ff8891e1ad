"""Share of the test sample that is classified."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures.risk.train_sign_accuracy import TrainSignAccuracy


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
