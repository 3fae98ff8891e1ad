"""The matrix of a layer, by its name."""

import math
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from simbias.errors import BadInput


def layer_matrix(network: Any, name: str) -> Float[Array, "p q"]:
    """What `network.NAME` holds, as "w" or "weights.0"; a kernel as outputs × inputs.

    "weights.-2" counts from the last, for networks of several depths.

    Raises:
        ValueError: naming the layers that there are, if it is none of them.
    """
    found: Any = network
    for step in name.split("."):
        try:
            found = (
                found[int(step)]
                if step.lstrip("-").isdecimal()
                else getattr(found, step)
            )
        except (AttributeError, IndexError, TypeError):
            found = None
            break
    if getattr(found, "ndim", 0) < 2:
        known = ", ".join(repr(one) for one in layer_names(network))
        raise BadInput(
            f"`layer` must name a matrix of the network, got {name!r}. It has {known}."
        )
    assert found is not None
    return found.reshape(found.shape[0], math.prod(found.shape[1:]))


def layer_names(network: Any) -> list[str]:
    """Of all matrices and kernels of a network."""
    leaves = jax.tree_util.tree_leaves_with_path(network)
    step = lambda key: str(getattr(key, "name", getattr(key, "idx", key)))
    is_matrix = lambda v: eqx.is_inexact_array(v) and v.ndim >= 2
    return [".".join(map(step, path)) for path, v in leaves if is_matrix(v)]
