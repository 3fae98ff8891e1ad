"""Which arrays of a network are trained."""

import math
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PyTree

from simbias.core import Buffer


def split_trained(network: Any) -> tuple[PyTree, PyTree]:
    """The trained leaves, and the rest.

    Trained are inexact arrays outside buffers that no `frozen` names.  Each part is the
    network with None in place of the other; `eqx.combine` joins them.
    """
    return eqx.partition(network, _is_trained(network))


def size(tree: PyTree) -> int:
    """Numbers in all arrays of a tree, with or without values."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))


def unknown_frozen(network: Any) -> list[str]:
    """Names in `frozen` of which the network has nothing."""
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(network)]
    frozen = getattr(network, "frozen", ())
    return [name for name in frozen if not any(_is_within(p, name) for p in paths)]


def _is_trained(tree: Any) -> PyTree:
    """True or False for every leaf; a part with a `frozen` of its own names its own."""
    frozen = getattr(tree, "frozen", ())
    is_part = lambda v: (
        v is not tree and (isinstance(v, Buffer) or bool(getattr(v, "frozen", ())))
    )

    def of(path: tuple, leaf: Any) -> PyTree:
        is_frozen = any(_is_within(path, name) for name in frozen)
        if is_frozen or isinstance(leaf, Buffer):
            return jax.tree.map(lambda _: False, leaf)
        return _is_trained(leaf) if is_part(leaf) else eqx.is_inexact_array(leaf)

    return jax.tree_util.tree_map_with_path(of, tree, is_leaf=is_part)


def _is_within(path: tuple, name: str) -> bool:
    """Whether a path begins as the name says: `weights.0` is network.weights[0]."""
    steps = [str(getattr(key, "name", getattr(key, "idx", key))) for key in path]
    names = name.split(".")
    return steps[: len(names)] == names
