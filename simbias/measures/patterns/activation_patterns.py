"""How many ways the neurons split the sample."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Int

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import is_active
from simbias.measures._patterns import distinct_columns


class ActivationPatterns(AbstractMeasure):
    """Number of distinct sets {i : wⱼ·xᵢ + bⱼ > 0} among the neurons.

    The empty set of dead neurons counts as one.

    Limit: a neuron that rests ON a hyperplane is counted by the sign of its rounding;
    `PatternClasses` counts it as resting there.
    """

    def __call__(self, network: Any, data: Dataset) -> Int[Array, ""]:
        """Number of patterns, from 1 to m."""
        return distinct_columns(is_active(network, data).astype(jnp.int32))
