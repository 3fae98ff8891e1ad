"""How far a function is from an odd one, as a linear function is."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs


class LinearityDefect(AbstractMeasure):
    """How far the network is from an odd function, rms(f(x) + f(−x))/rms(f(x)).

    Over the sample, all outputs together.

    A two-layer network of ReLU or leaky ReLU without bias is f(x) = c·x + g(x) with g
    even, so it is linear wherever this is 0.  NaN for f = 0.

    Reference: Lyu et al. (2021), arXiv:2110.13905, two-neuron limit.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """0 for an odd function, 2 for an even one."""
        f, g = outputs(network, data.x), outputs(network, -data.x)
        # Scaled first, so that a network near zero does not underflow.
        size = jnp.max(jnp.where((data.weight > 0)[:, None], jnp.abs(f), 0))
        unit = jnp.where(size > 0, size, 1)
        square = lambda v: jnp.sum(data.weight[:, None] * (v / unit) ** 2)
        total = square(f)
        ratio = square(f + g) / jnp.where(total > 0, total, 1)
        return jnp.where(total > 0, jnp.sqrt(ratio), jnp.nan)
