"""How many ways the neurons split the sample."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import is_active


class ActivationPatterns(AbstractMeasure):
    """Number of distinct sets {i : wⱼ·xᵢ + bⱼ > 0} among the neurons.

    The empty set of dead neurons counts as one.  A set is known by two sums of random
    32-bit numbers over its samples, modulo 2³²: two sets coincide by accident with
    probability 2⁻⁶⁴, so that the count is wrong with probability below m² 2⁻⁶⁵ (3e-12
    for m = 10,000).  The random numbers are the same in every call.

    Limit: a neuron that rests ON a hyperplane is counted by the sign of its rounding.
    """

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Int[Array, ""]:
        """Number of patterns, from 1 to m."""
        active = is_active(network, data)
        bits = jax.random.bits(jax.random.key(0), (active.shape[0], 2), jnp.uint32)
        zero = jnp.uint32(0)
        hashes = [
            jnp.sum(jnp.where(active, bits[:, i : i + 1], zero), axis=0, dtype="uint32")
            for i in (0, 1)
        ]
        first, second = jax.lax.sort(hashes, num_keys=2)
        is_new = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        return 1 + jnp.sum(is_new, dtype=jnp.int32)
