"""Neurons sorted by the feature they are closest to and by the sign of aⱼ.

A hidden bias is one more coordinate of the neurons, 0 in the features.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.measures._neurons import directions, incoming, single_output

# Groups with a > 0 first; within them +features before −features.
_SIGNS = (1.0, -1.0)


def signed_features(network: Any, data: Dataset) -> Float[Array, "q e"]:
    """Unit vectors along the p features, then along their opposites (q = 2p)."""
    u = directions(data.features)
    if network.b is not None:
        u = jnp.concatenate([u, jnp.zeros_like(u[:, :1])], axis=1)
    return jnp.concatenate([u, -u])


def nearest(network: Any, features: Float[Array, "q e"]) -> Float[Array, "m q"]:
    """1 at the signed feature closest to neuron j; a row of zeros for wⱼ = 0."""
    c = jnp.matmul(directions(incoming(network)), features.T, precision="highest")
    best = jnp.argmax(jnp.where(jnp.isnan(c), -2, c), axis=1)
    is_best = best[:, None] == jnp.arange(c.shape[1], dtype=best.dtype)[None, :]
    return (is_best & ~jnp.isnan(c)).astype(c.dtype)


def memberships(network: Any, data: Dataset) -> Float[Array, "m g"]:
    """1 where neuron j belongs to group g of the g = 4p groups; a neuron of zeros: 0.

    Raises:
        ValueError: if the network has several outputs.
    """
    is_near = nearest(network, signed_features(network, data))
    a = single_output(network)
    groups = [jnp.where((s * a > 0)[:, None], is_near, 0) for s in _SIGNS]
    return jnp.concatenate(groups, axis=1)


def group_signs(groups: int, dtype: jnp.dtype) -> Float[Array, " g"]:
    """Sign of aⱼ in every group."""
    return jnp.repeat(jnp.array(_SIGNS, dtype), groups // 2)


def group_vectors(
    network: Any, member: Float[Array, "m g"]
) -> tuple[Float[Array, "g e"], Float[Array, ""]]:
    """s_g/A with s_g = Σ_{j∈g} |aⱼ|wⱼ, and A = max |aⱼ| (s_g may be below range)."""
    a = jnp.abs(single_output(network))
    size = jnp.max(a)
    unit = a / jnp.where(size > 0, size, 1)
    weighted = member * unit[:, None]
    return jnp.matmul(weighted.T, incoming(network), precision="highest"), size
