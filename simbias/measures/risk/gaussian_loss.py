"""Loss over Gaussian inputs of ReLU neurons that are summed."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.theory.population import population_loss


class GaussianLoss(AbstractMeasure):
    """Loss of a student of a ReLU teacher over Gaussian inputs, in closed form.

    It is ½ E (Σⱼ φ(wⱼ·x) − Σᵢ φ(vᵢ·x))² over x ~ N(0, I), φ(h) = max(h, s·h).

    The teacher's vᵢ are the features of the data.  Output weights are taken as 1, and s
    is the slope of the network's activation for negative inputs, 0 for ReLU.

    Args:
        is_averaged: of the network whose neurons are all their mean: of two, the
            network averaged with itself after its neurons were exchanged.

    Reference: Brutzkus & Globerson (2017), arXiv:1702.07966.
    """

    is_averaged: bool = eqx.field(static=True, default=False)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """In closed form, without a sample."""
        w, v = network.w, data.features
        slope = network.negative_slope
        if self.is_averaged:
            w = jnp.broadcast_to(jnp.mean(w, axis=0, keepdims=True), w.shape)
        one = lambda rows: (rows, jnp.ones((len(rows), 1), rows.dtype), slope)
        return population_loss(one(w), one(v))
