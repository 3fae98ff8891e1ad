"""Products of the neurons with each other and with a teacher."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.precision import matmul


class OrderParameters(AbstractMeasure):
    """Order parameters of a student and a teacher: overlaps divided by the dimension.

    The matrix of uᵢ·uⱼ/d over the rows u of the first layer, then the features of the
    data, which are the rows of the teacher.  For inputs x ~ N(0, I/d) it is the
    covariance of the pre-activations.  No biases.

    Reference: Saad & Solla (1995), doi:10.1103/PhysRevE.52.4225: Q, R and T.
    """

    dims: ClassVar[tuple[str, ...]] = ("row", "column")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "p p"]:
        """Students first, then teachers."""
        rows = jnp.concatenate([network.w, data.features])
        return matmul(rows, rows.T) / rows.shape[1]
