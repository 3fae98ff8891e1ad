"""How fast the fastest neuron grows."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Loss
from simbias.losses import half_mse
from simbias.measures.rest._read import forces
from simbias.numerics.precision import matmul


class NeuronGrowth(AbstractMeasure):
    """Largest growth rate of a neuron, maxⱼ sign(aⱼ) G(ŵⱼ) under the residual.

    G(w) = −Σᵢ ∂L/∂fᵢ σ(w·xᵢ),   (ln |wⱼ|)' = sign(aⱼ) G(ŵⱼ)  if |aⱼ| = |wⱼ|

    of all neurons that are left, of whatever size; a dead one has 0.  At an end it is 0
    to rounding, and near a saddle it is the rate at which neurons of next to no size
    leave it, once they have turned.  Two layers of ReLU or leaky ReLU, one output.

    Args:
        loss: what the flow descends.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, with the labels in the
    place of the residual.
    """

    loss: Loss = eqx.field(static=True, default=half_mse)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Rate per unit of time."""
        neurons, sample, pull = forces("NeuronGrowth", network, data, self.loss)
        length = jnp.linalg.norm(neurons.w, axis=1, keepdims=True)
        unit = neurons.w / jnp.where(length > 0, length, 1)
        h = matmul(unit, sample.x.T)
        above = jnp.where(h > 0, h, neurons.slope * h)
        rate = jnp.sign(neurons.a) * matmul(above, pull[:, None])[:, 0]
        return jnp.max(rate)
