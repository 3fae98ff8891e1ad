"""How far neurons are from the next change of their patterns."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.losses import half_mse
from simbias.measures.rest._read import forces
from simbias.numerics.precision import matmul

# Of |w||x|: roundings up to which a neuron is on a hyperplane.
_ROUNDINGS = 1000


class PatternMargin(AbstractMeasure):
    """Least sine of the angle between a neuron and a hyperplane that it is not on.

    min |wⱼ·xᵢ| / |wⱼ||xᵢ|  over the neurons that are active on some sample

    with a bias as one more coordinate of both.  No pattern changes before some neuron
    has moved by this share of its size.  Infinite if all are dead.  A neuron is on a
    hyperplane that is nearer than 1000 roundings.  Two layers of ReLU or leaky ReLU,
    one output.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """A sine."""
        neurons, sample, _ = forces("PatternMargin", network, data, half_mse)
        h = matmul(neurons.w, sample.x.T)
        norm = lambda v: jnp.linalg.norm(v, axis=1)
        size = norm(neurons.w)[:, None] * norm(sample.x)[None, :]
        sine = h / jnp.where(size > 0, size, 1)
        is_on = jnp.abs(sine) <= _ROUNDINGS * neurons.eps
        is_alive = jnp.any((sine > 0) & ~is_on, axis=1) | (neurons.slope > 0)
        is_meant = ~is_on & (size > 0) & is_alive[:, None]
        return jnp.min(jnp.where(is_meant, jnp.abs(sine), jnp.inf))
