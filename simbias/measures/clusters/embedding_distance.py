"""How far a network is from one with a single neuron per direction."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs
from simbias.measures._groups import group_signs, group_vectors, memberships
from simbias.measures._ols import inputs
from simbias.validation.values import positive_integer


class EmbeddingDistance(AbstractMeasure):
    """Distance of a network from the few neurons that it embeds, over its own size.

    It is rms(f − g)/rms(f) on the sample, g the `count` neurons that f embeds.

        g(x) = Σ_g sign_g φ(s_g·x),   s_g = Σ_{j∈g} |aⱼ|wⱼ

    Neurons are grouped by the sign of aⱼ and by the feature of the data, or its
    opposite, that is closest to wⱼ; g keeps the `count` groups of largest ‖s_g‖.  It
    is 0 when the neurons of a group agree in direction and no others are left: the
    flow of f is then the flow of the small network.  NaN for f = 0.  A hidden bias is
    one more coordinate of wⱼ.  One output and a homogeneous activation.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, section 5.
    """

    count: int = eqx.field(static=True, default=4)

    def __check_init__(self):
        positive_integer("count", self.count)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Relative distance."""
        sums, size = group_vectors(network, memberships(network, data))
        length = jnp.linalg.norm(sums, axis=1)
        least = jnp.sort(length)[-min(self.count, length.shape[0])]
        sign = jnp.where(length >= least, group_signs(len(length), length.dtype), 0)
        x = inputs(data.x, has_intercept=network.b is not None)
        h = jnp.matmul(x, sums.T, precision="highest")
        g = jnp.matmul(network.activation(h), sign, precision="highest")
        scale = jnp.where(size > 0, size, 1)
        f = outputs(network, data.x)[:, 0] / scale
        square = lambda v: jnp.sum(data.weight * v**2)
        total = square(f)
        ratio = square(f - g) / jnp.where(total > 0, total, 1)
        return jnp.where(total > 0, jnp.sqrt(ratio), jnp.nan)
