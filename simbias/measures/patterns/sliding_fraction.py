"""How many neurons are held on a data hyperplane."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._patterns import sides
from simbias.validation.values import not_negative


class SlidingFraction(AbstractMeasure):
    """Share of the neurons with |wⱼ·xᵢ| ≤ tolerance ‖wⱼ‖‖xᵢ‖ for some sample i.

    The exact flow keeps a sliding neuron on its hyperplane to rounding, so the default
    tolerance separates it from one that is passing by.  Under gradient descent the
    same neuron chatters across the hyperplane at a distance of the order of the rate:
    choose the tolerance accordingly.  In float32 take 1e-5.
    """

    tolerance: float = eqx.field(static=True, default=1e-9)

    def __check_init__(self):
        not_negative("tolerance", self.tolerance)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Share in [0, 1]; a neuron of zeros counts as sliding."""
        is_held = sides(network, data, self.tolerance) == 0
        is_held &= (data.weight > 0)[:, None]
        return jnp.mean(jnp.any(is_held, axis=0).astype(network.w.dtype))
