"""Eigenvalues of the Gram matrix of the samples, the smallest first."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._gram import gram_modes


class GramEigenvalues(AbstractMeasure):
    """Eigenvalues of the Gram matrix XXᵀ/n of the sample.

    min(n, d) of them are those of XᵀX/n that are not 0.

    Of the data alone; d counts the inputs at which the first row of `data.features`
    is not 0.
    """

    dims: ClassVar[tuple[str, ...]] = ("mode",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """From the smallest up, those that are 0 by the shape of X before all."""
        values, _, is_there = gram_modes(data)
        return jnp.where(is_there, values, 0) / jnp.sum(data.weight)
