"""The arrays of a network by name, in which whole networks are kept."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from simbias.introspection.array_network import original_network

# What is kept as it is; anything else becomes float64, which holds it exactly.
_KEPT = ("float32", "float64", "int32", "int64")


def named_leaves(network: Any) -> dict[str, Any]:
    """Every array of a network, with or without its values, by where it stands.

    The second layer's weights of an `mlp` are "layers.1.0".
    """
    leaves, _ = jax.tree_util.tree_flatten_with_path(original_network(network))
    return {_name(path): leaf for path, leaf in leaves if hasattr(leaf, "dtype")}


def with_leaves(like: Any, values: Mapping[str, Any]) -> Any:
    """The network of these arrays, as it was given; `like` describes it."""

    def put(path, leaf):
        if not hasattr(leaf, "dtype"):
            return leaf
        return values[_name(path)].astype(leaf.dtype)

    return jax.tree_util.tree_map_with_path(put, original_network(like))


def kept_dtype(dtype: np.dtype) -> np.dtype:
    """What an array of a network is kept as."""
    return dtype if str(dtype) in _KEPT else np.dtype(np.float64)


def nothing(dtype: np.dtype) -> float | int:
    """What stands where nothing is kept."""
    return float("nan") if dtype.kind == "f" else -1


def _name(path: tuple) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
