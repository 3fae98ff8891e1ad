"""The key of what a network draws in training, such as dropout."""

from typing import Any

import jax
from jaxtyping import Array, Int, PRNGKeyArray

from simbias.errors import BadInput
from simbias.flows._shared.objective import couples_rows, draws_in_training

# Of the key of a member: no epoch, no step and no branch has this number.
_NOISE = 2**32 - 2


def first_noise(key: PRNGKeyArray, network: Any) -> PRNGKeyArray | None:
    """The key of all steps; None for a network that draws nothing.

    Raises:
        ValueError: for a network that has both ways of being trained otherwise.
    """
    if not draws_in_training(network):
        return None
    if couples_rows(network):
        raise BadInput(
            "the network has both `on_sample` and `in_training`, and a step can use "
            "one of them only. Draw inside `on_sample` from a key in a Buffer, or "
            "leave one out."
        )
    return jax.random.fold_in(key, _NOISE)


def noise_of(key: PRNGKeyArray | None, count: Int[Array, ""]) -> PRNGKeyArray | None:
    """The key of step number `count`."""
    return None if key is None else jax.random.fold_in(key, count)
