"""Arrays that JAX takes as they are, others refused by name."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simbias.errors import BadInput


def check_arrays(name: str, tree: Any) -> None:
    """Refuse arrays in which a part of what they say would be lost, or which fail.

    Those are masked arrays, complex numbers and those wider than float64, NumPy's
    arrays of objects, texts or times, and tables of pandas.

    Raises:
        ValueError: naming the array.
    """
    whole = lambda v: isinstance(v, np.ma.MaskedArray) or hasattr(v, "to_numpy")
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree, is_leaf=whole):
        if wrong := _wrong(leaf):
            raise BadInput(f"`{name}{jax.tree_util.keystr(path)}` {wrong}")


def _wrong(leaf: Any) -> str | None:
    """What is wrong with a leaf, and what to do."""
    kind = type(leaf).__name__
    if isinstance(leaf, np.ma.MaskedArray):
        return (
            "must be an array without a mask, got a masked array. Drop the masked "
            "rows, or fill them. Example: x.filled(0.0)."
        )
    if hasattr(leaf, "to_numpy"):
        return (
            f"must be an array of JAX or NumPy, got a {kind}. Example: "
            "frame.to_numpy(float)."
        )
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None and jnp.issubdtype(dtype, np.complexfloating):
        return (
            f"is complex ({dtype}); simbias needs real numbers. Example: "
            "jnp.concatenate([z.real, z.imag], axis=1) for inputs, and two arrays, the "
            "real and the imaginary part, for weights."
        )
    if not isinstance(leaf, (np.ndarray, np.generic)):
        return None
    if leaf.dtype.kind in "OSUMm":
        return (
            f"must hold numbers, got the dtype {leaf.dtype}. Example: x.astype(float)."
        )
    if leaf.dtype.kind in "fc" and leaf.real.dtype.itemsize > 8:
        return (
            f"must fit into float64, got the dtype {leaf.dtype}. Example: "
            "x.astype(float), where no number is above 1.8e308."
        )
    return None
