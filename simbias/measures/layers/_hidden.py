"""Activations of the hidden layers on a sample."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset


def hidden(network: Any, data: Dataset) -> Float[Array, "layer n m"]:
    """Activations of all hidden layers, in double precision where it is on."""
    double = lambda v: v.astype(jnp.result_type(float))
    network = jax.tree.map(double, network)
    layers = jax.vmap(lambda x: jnp.stack(network.activations(x)))(double(data.x))
    return jnp.moveaxis(layers, 1, 0)
