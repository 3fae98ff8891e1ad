"""Test accuracy through the first principal components."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures.components._projected import by_components


class ProjectedAccuracy(AbstractMeasure):
    """Test accuracy when only the first P principal components of a row are kept.

    Components are the rows of `data.features`, orthonormal, in order; the others are
    set to 0.

    Args:
        first: values of P.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 5.
    """

    first: tuple[int, ...] = eqx.field(static=True, default=(1, 2, 5, 10, 20, 40, 64))
    dims: ClassVar[tuple[str, ...]] = ("first",)

    def coords(self) -> dict[str, np.ndarray]:
        """The numbers of components."""
        return {"first": np.array(self.first)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " p"]:
        """Accuracies in [0, 1], by P."""
        test = second_sample(data)
        right = by_components(network, data, jnp.asarray(self.first))
        weight = test.weight / jnp.sum(test.weight)
        return jnp.sum(jnp.where(right, weight, 0), axis=1)
