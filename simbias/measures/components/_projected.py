"""Test rows that are classified correctly by their first principal components."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from simbias.core import Dataset
from simbias.introspection.outputs import second_sample


def by_components(network: Any, data: Dataset, kept: Array) -> Bool[Array, "p r"]:
    """Whether each test row is right, for each count of components in `kept`."""
    test = second_sample(data)
    along = test.x @ data.features.T
    place = jnp.arange(data.features.shape[0])

    def of(count: Array) -> Array:
        part = jnp.where((place < count)[None, :], along, 0) @ data.features
        return is_right(network, part, test.y)

    return jax.lax.map(of, kept)


def is_right(network: Any, x: Array, y: Array) -> Bool[Array, " r"]:
    """Whether the largest output is that of the class, by row."""
    return jnp.argmax(jax.vmap(network)(x), axis=1) == jnp.argmax(y, axis=1)
