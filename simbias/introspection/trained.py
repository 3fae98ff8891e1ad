"""Which arrays of a network are trained."""

import math
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PyTree

from simbias.core import Buffer


def split_trained(network: Any) -> tuple[PyTree, PyTree]:
    """The trained leaves (inexact arrays outside buffers), and the rest.

    Each is the network with None in place of the other; `eqx.combine` joins them.
    """
    is_buffer = lambda v: isinstance(v, Buffer)
    is_trained = jax.tree.map(
        lambda v: not is_buffer(v) and eqx.is_inexact_array(v),
        network,
        is_leaf=is_buffer,
    )
    return eqx.partition(network, is_trained)


def size(tree: PyTree) -> int:
    """Numbers in all arrays of a tree, with or without values."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))
