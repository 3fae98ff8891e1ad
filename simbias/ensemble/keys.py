"""Which random numbers a member has: its cell's arguments and its seed say it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt

from simbias.ensemble.grid import Cell


def member_key(root: int, cell: Cell, seed: int) -> PRNGKeyArray:
    """fold_in(fold_in(root, cell identity), seed).

    Depends on the cell's own values and the seed alone: adding cells or seeds to a
    grid leaves every existing member as it was.
    """
    return _key(root, cell.identity, seed)


def member_keys(root: int, cell: Cell, seed: int) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """Keys of one member: for its data and network, and for its flow."""
    return _split_keys(key_numbers(root, cell, seed))


def key_numbers(root: int, cell: Cell, seed: int) -> np.ndarray:
    """What the keys of a member are made of: root, cell identity and seed."""
    return np.asarray([root, cell.identity, seed], np.uint32)


def split_keys(numbers: UInt[Array, "3"]) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """`member_keys` inside a compiled program."""
    key_draw, key_flow = jax.random.split(_key(*numbers))
    return key_draw, key_flow


_split_keys = jax.jit(split_keys)


def _key(root: Any, identity: Any, seed: Any) -> PRNGKeyArray:
    key = jax.random.fold_in(jax.random.key(root), jnp.uint32(identity))
    return jax.random.fold_in(key, jnp.uint32(seed))
