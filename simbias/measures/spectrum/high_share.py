"""How much of a network lies above a frequency, along a grid."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.numerics.spectrum import coefficients
from simbias.validation.values import positive_integer


class HighShare(AbstractMeasure):
    """Share of the mean square of f at frequencies above `above`, on the test sample.

    Σ_{k > above} |f̂(k)|² / Σ_k |f̂(k)|²

    The test sample is a grid of an even number of points at equal distances over one
    period, and the network has one output.

    Args:
        above: k, in periods along the grid.
    """

    above: int = eqx.field(static=True)

    def __check_init__(self):
        positive_integer("above", self.above)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Between 0 and 1; NaN for a network that is 0."""
        values = outputs(network, second_sample(data).x)[:, 0]
        power = jnp.abs(coefficients(values)) ** 2
        total, high = jnp.sum(power), jnp.sum(power[self.above + 1 :])
        return jnp.where(total > 0, high / jnp.where(total > 0, total, 1), jnp.nan)
