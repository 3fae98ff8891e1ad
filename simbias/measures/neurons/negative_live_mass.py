"""Whether neurons of both signs take part."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import mass_shares, single_output
from simbias.measures._patterns import sides


class NegativeLiveMass(AbstractMeasure):
    """Share of neurons with aⱼ < 0 in the mass |aⱼ|‖wⱼ‖ of the live neurons.

    Live: vⱼ·xᵢ > ε ‖vⱼ‖‖xᵢ‖ on at least one training sample, vⱼ = (wⱼ, bⱼ), ε = 1e-9 or
    100 roundings; a neuron that rests on a hyperplane to rounding is not live.  0 if
    only neurons with aⱼ ≥ 0 are live, 1 if only neurons with aⱼ < 0 are, NaN if none
    is.  One output only.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Share in [0, 1]."""
        is_negative = single_output(network) < 0
        least = max(1e-9, 100 * float(jnp.finfo(data.x.dtype).eps))
        is_live = jnp.any(sides(network, data, least) > 0, axis=0)
        mass = jnp.where(is_live, mass_shares(network), 0)
        total = jnp.sum(mass)
        negative = jnp.sum(jnp.where(is_negative, mass, 0))
        return jnp.where(total > 0, negative / jnp.where(total > 0, total, 1), jnp.nan)
