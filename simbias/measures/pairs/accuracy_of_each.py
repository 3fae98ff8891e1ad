"""Share of the samples whose class is right, for each of several networks."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.validation.values import positive_integer


class AccuracyOfEach(AbstractMeasure):
    """Share of the training and of the test sample with argmax f_g = argmax y_g.

    The outputs are those of several networks side by side, (f₁, …, f_g), and so are
    the targets; each has as many columns as there are classes.

    Args:
        classes: columns of each network.
    """

    classes: int = eqx.field(static=True, default=10)
    dims: ClassVar[tuple[str, ...]] = ("sample", "network")
    entries: ClassVar = {"sample": ("train", "test")}

    def __check_init__(self):
        positive_integer("classes", self.classes)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 network"]:
        """Accuracies in [0, 1]; targets are one-hot."""
        rows = []
        for some in (data, second_sample(data)):
            split = lambda v: v.reshape(v.shape[0], -1, self.classes).argmax(axis=2)
            is_right = split(outputs(network, some.x)) == split(some.y)
            right = jnp.sum(jnp.where(is_right, some.weight[:, None], 0), axis=0)
            rows.append(right / jnp.sum(some.weight))
        return jnp.stack(rows)
