"""How fast a neuron could grow, in whatever direction."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Loss
from simbias.limits.fastest_growth import fastest_growth
from simbias.losses import half_mse
from simbias.measures.rest._read import forces


class LargestGrowth(AbstractMeasure):
    """Largest growth rate of any direction under the residual, max |G| with its sign.

    max over ‖w‖ = 1 and s = ±1 of s G(w),   G(w) = −Σᵢ ∂L/∂fᵢ σ(w·xᵢ)

    The rate at which a neuron of next to no size would grow there, were there one: 0 if
    the loss is as small as that of any width, such as 0, while `NeuronGrowth` is of the
    neurons that there are.  A bias is one more dimension.

    In three dimensions or fewer it is exact, by the cells between the hyperplanes, at a
    cost like n³ in three.  In more it is a lower bound: the best on the way of steepest
    ascents from all inputs, their opposites and 64 random directions.  Two layers of
    ReLU or leaky ReLU, one output.

    Args:
        loss: what the flow descends.

    Reference: Maennel, Bousquet & Gelly (2018), arXiv:1803.08367, G with the labels in
    the place of the residual; `theory.extremal_vectors` has all its extrema.
    """

    loss: Loss = eqx.field(static=True, default=half_mse)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Rate per unit of time."""
        neurons, sample, pull = forces("LargestGrowth", network, data, self.loss)
        up, _ = fastest_growth(sample.x, pull, neurons.slope)
        down, _ = fastest_growth(sample.x, -pull, neurons.slope)
        return jnp.maximum(up, down)
