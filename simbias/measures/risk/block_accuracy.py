"""Accuracy when one of two blocks of the input is taken from another sample."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import classes, outputs, second_sample
from simbias.measures._randomised import RANDOMISED
from simbias.measures.risk._classes import accuracy, exchanged


class BlockAccuracy(AbstractMeasure):
    """Share of the test sample that is classified as its y, with a block randomised.

    "nothing" is the test accuracy; "simple" and "complex" exchange that block between
    the rows and keep y.  A network that looks at one block only keeps its accuracy when
    the other is exchanged, and falls to chance when its own is.  Blocks are told by the
    first and the last row of `features`, the indicators of their coordinates.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 4, the S-randomised
    metric, as an accuracy.
    """

    dims: ClassVar[tuple[str, ...]] = ("randomised",)
    entries: ClassVar = {"randomised": RANDOMISED}
    test_targets: ClassVar[str] = "classes"

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """Accuracies in [0, 1]; any network, classes by `argmax` or by sign."""
        test = second_sample(data)
        inputs = [test.x, exchanged(test, "simple")[0], exchanged(test, "complex")[0]]
        found = classes(outputs(network, jnp.concatenate(inputs))).reshape(3, -1)
        true = classes(test.y)
        return jnp.stack([accuracy(row, true, test.weight) for row in found])
