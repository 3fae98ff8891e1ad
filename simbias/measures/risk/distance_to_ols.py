"""How far the learned function is from the least-squares predictor."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs
from simbias.losses import mse
from simbias.measures._ols import inputs, ols


class DistanceToOls(AbstractMeasure):
    """Distance of the network from least squares on the training inputs.

    It is √(Σᵢ |f(xᵢ) − β̂ᵀxᵢ|²) / √(Σᵢ |β̂ᵀxᵢ|²).

    β̂ is least squares on the same sample, the one of least norm if there are several.
    0 when the network IS the regression line there; NaN where that line is zero.
    """

    has_intercept: bool = eqx.field(static=True, default=False)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Relative distance; any network.

        `has_intercept` adds a constant to the regression: for networks with a bias.
        """
        beta = ols(data, has_intercept=self.has_intercept)
        line = inputs(data.x, has_intercept=self.has_intercept) @ beta
        size = mse(line, jnp.zeros_like(line), data.weight)
        gap = mse(outputs(network, data.x), line, data.weight)
        return jnp.sqrt(
            jnp.where(size > 0, gap / jnp.where(size > 0, size, 1), jnp.nan)
        )
