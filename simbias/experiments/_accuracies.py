"""How often the class of a sample is told."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample


class Accuracies(AbstractMeasure):
    """Shares of the training and of the test sample whose class is told."""

    dims: ClassVar[tuple[str, ...]] = ("sample",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Accuracies in [0, 1], labels as they are; targets are one-hot."""
        samples = (data, second_sample(data))
        return jnp.stack([class_accuracy(network, some) for some in samples])

    def coords(self) -> dict[str, np.ndarray]:
        """Training and test sample."""
        return {"sample": np.array(["train", "test"])}


def class_accuracy(f: Callable[[Array], Array], data: Dataset) -> Float[Array, ""]:
    """Share of the rows on which the largest output is that of the class."""
    found = jnp.argmax(outputs(f, data.x), axis=1)
    is_right = found == jnp.argmax(data.y, axis=1)
    return jnp.sum(jnp.where(is_right, data.weight, 0)) / jnp.sum(data.weight)
