"""Images, and how well a network tells their classes."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.datasets.vision.images import SHAPE, Source
from simbias.introspection.outputs import outputs, second_sample

CLASSES = 10
# Clock of one epoch: with n = 1000 and a batch of 50 the clock counts epochs.
RATE, BATCH, N = 0.05, 50, 1000


def input_size(source: Source) -> int:
    """Pixels times channels."""
    return int(np.prod(SHAPE[source]))


class ClassAccuracy(AbstractMeasure):
    """Shares of the training and of the test sample whose class is told.

    Of several networks side by side each has ten outputs and targets of its own.
    """

    dims: ClassVar[tuple[str, ...]] = ("sample", "network")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 network"]:
        """Accuracies in [0, 1]; targets are one-hot."""
        rows = []
        for some in (data, second_sample(data)):
            split = lambda v: v.reshape(v.shape[0], -1, CLASSES).argmax(axis=2)
            is_right = split(outputs(network, some.x)) == split(some.y)
            right = jnp.sum(jnp.where(is_right, some.weight[:, None], 0), axis=0)
            rows.append(right / jnp.sum(some.weight))
        return jnp.stack(rows)

    def coords(self) -> dict[str, np.ndarray]:
        """Training and test sample."""
        return {"sample": np.array(["train", "test"])}
