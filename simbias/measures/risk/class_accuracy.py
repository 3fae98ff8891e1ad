"""Share of the samples whose largest output is that of their class."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import classified_share


class ClassAccuracy(AbstractMeasure):
    """Share of the training and of the test sample with argmax f = argmax y.

    Targets have two columns or more: one-hot, or probabilities.  For labels −1 and +1
    in one column see `TrainSignAccuracy`.
    """

    dims: ClassVar[tuple[str, ...]] = ("sample",)
    entries: ClassVar = {"sample": ("train", "test")}
    targets: ClassVar[str] = "columns"
    test_targets: ClassVar[str] = "columns"

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Accuracies in [0, 1], labels as they are; NaN without a test sample.

        Raises:
            ValueError: for targets of one column.
        """
        train = classified_share(network, data)
        if data.test is None:
            return jnp.stack([train, jnp.full_like(train, jnp.nan)])
        return jnp.stack([train, classified_share(network, data.test)])
