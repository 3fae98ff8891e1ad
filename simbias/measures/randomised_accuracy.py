"""Accuracy once the simple, or the complex, features tell nothing."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.checks import positive_integer
from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import RANDOMISED, three_logits
from simbias.measures._sample import second_sample


class RandomisedAccuracy(AbstractMeasure):
    """Share with f > 0 exactly where y > 0: as it is, S- and Sᶜ-randomised.

    See `RandomisedAuc` for S.  The first entry is the test accuracy.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3.
    """

    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("randomised",)

    def __check_init__(self):
        positive_integer("simple", self.simple)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """With nothing, the simple, the complex features randomised.

        Raises:
            ValueError: without a test sample, for several outputs, or too few features.
        """
        logits = three_logits(network, data, self.simple)
        test = second_sample(data)
        is_right = (logits > 0) == (test.y[:, 0] > 0)[None, :]
        right = jnp.sum(jnp.where(is_right, test.weight[None, :], 0), axis=1)
        return right / jnp.sum(test.weight)

    def coords(self) -> dict[str, np.ndarray]:
        """What is randomised."""
        return {"randomised": RANDOMISED}
