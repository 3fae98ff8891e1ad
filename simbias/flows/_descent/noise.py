"""The key of what a network draws in training, such as dropout."""

from typing import Any

import jax
from jaxtyping import Array, Int, PRNGKeyArray

from simbias.introspection.training import check_hooks
from simbias.network import hook

# Of the key of a member: no epoch, no step and no branch has this number.
_NOISE = 2**32 - 2


def first_noise(key: PRNGKeyArray, network: Any) -> PRNGKeyArray | None:
    """The key of all steps; None for a network that draws nothing.

    Raises:
        ValueError: for a network with hooks that a step cannot use together.
    """
    check_hooks(network)
    if hook(network, "in_training") is None:
        return None
    return jax.random.fold_in(key, _NOISE)


def noise_of(key: PRNGKeyArray | None, count: Int[Array, ""]) -> PRNGKeyArray | None:
    """The key of step number `count`."""
    return None if key is None else jax.random.fold_in(key, count)
