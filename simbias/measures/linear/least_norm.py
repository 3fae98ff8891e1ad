"""Norm of the smallest interpolator of a linear model."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._row_space import row_space


class LeastNorm(AbstractMeasure):
    """Norm of the least-norm interpolator, ‖X⁺y‖; of the data alone."""

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """In units of the weights; of the first target."""
        return jnp.linalg.norm(row_space(data).target)
