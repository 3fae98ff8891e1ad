"""Weights of a two-layer network as the flow has them: biases as one input more."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


def weights(network: Any) -> tuple[Float[Array, "m e"], Float[Array, "m k"]]:
    """(w, b) of the hidden neurons, or w if they have no bias, and a."""
    if network.b is None:
        return network.w, network.a
    return jnp.concatenate([network.w, network.b[:, None]], axis=1), network.a


def with_weights(network: Any, w: Float[Array, "m e"], a: Float[Array, "m k"]) -> Any:
    """The network with these."""
    if network.b is None:
        return eqx.tree_at(lambda net: (net.w, net.a), network, (w, a))
    d = network.w.shape[1]
    return eqx.tree_at(
        lambda net: (net.w, net.b, net.a), network, (w[:, :d], w[:, d], a)
    )
