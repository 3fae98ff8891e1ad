"""Half the squared norm of all weights."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.trained_arrays import split_trained


class ParameterNorm(AbstractMeasure):
    """Half the squared norm of all trained parameters, ½‖θ‖²; of any network.

    For a balanced two-layer network it equals Σⱼ |aⱼ|‖wⱼ‖, and at a minimum-norm
    interpolator the variation norm of the function.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939,
    theorem 1.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """½‖θ‖², in units of weight squared."""
        leaves = jax.tree.leaves(split_trained(network)[0])
        return jnp.sum(jnp.stack([jnp.sum(v**2) for v in leaves])) / 2
