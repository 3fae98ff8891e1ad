"""Error of the entries of a matrix that training does not see."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample


class UnseenError(AbstractMeasure):
    """Relative error on the entries that are not observed.

    It is √(Σ (f(xᵢ) − yᵢ)²/Σ yᵢ²) over the test sample.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Relative to their size: 1 for a matrix of zeros."""
        test = second_sample(data)
        of = lambda values: jnp.sum(test.weight[:, None] * values**2)
        return jnp.sqrt(of(outputs(network, test.x) - test.y) / of(test.y))
