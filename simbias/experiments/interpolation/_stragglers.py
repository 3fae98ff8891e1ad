"""Neurons that have not turned."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import single_output
from simbias.numerics.precision import matmul


class Stragglers(AbstractMeasure):
    """Number of neurons with aⱼ (wⱼ·u) < 0, u row `feature` of `data.features`.

    Of a linear teacher u = β*: those on the side that the other sign fits.
    """

    feature: int = eqx.field(static=True, default=0)
    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """A count; a network of two layers with one output."""
        side = matmul(network.w, data.features[self.feature][:, None])[:, 0]
        # Of tiny weights the product is 0.
        is_other = jnp.sign(single_output(network)) * jnp.sign(side) < 0
        return jnp.sum(is_other).astype(side.dtype)
