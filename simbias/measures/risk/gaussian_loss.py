"""Loss over Gaussian inputs of ReLU neurons that are summed."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.theory import gaussian_loss as closed_form


class GaussianLoss(AbstractMeasure):
    """Loss of a student of a ReLU teacher over Gaussian inputs, in closed form.

    It is ½ E (Σⱼ φ(wⱼ·x) − Σᵢ φ(vᵢ·x))² over x ~ N(0, I), φ(h) = max(h, s·h).

    The teacher's vᵢ are the features of the data.  Output weights are taken as 1, and s
    is the network's `slope`, 0 (ReLU) if it has none.

    Args:
        is_averaged: of the network whose neurons are all their mean: of two, the
            network averaged with itself after its neurons were exchanged.

    Reference: Brutzkus & Globerson (2017), arXiv:1702.07966.
    """

    is_averaged: bool = eqx.field(static=True, default=False)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """In closed form, without a sample."""
        w, slope = network.w, getattr(network, "slope", 0.0)
        if self.is_averaged:
            w = jnp.broadcast_to(jnp.mean(w, axis=0, keepdims=True), w.shape)
        return closed_form.gaussian_loss(w, data.features, slope)
