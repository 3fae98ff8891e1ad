"""Classes of targets and predictions, and samples with a block exchanged."""

from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.core import Dataset

Block = Literal["simple", "complex"]
# Rows of `features` that are the indicators of the blocks.
_ROWS: dict[Block, int] = {"simple": 0, "complex": -1}


def class_count(y: Float[Array, "n k"]) -> int:
    """Number of classes."""
    return max(y.shape[1], 2)


def exchanged(
    data: Dataset, block: Block
) -> tuple[Float[Array, "n d"], Int[Array, " n"]]:
    """Inputs with one block taken from other rows, and which row each took it from.

    The block are the coordinates where its indicator among `features` is not 0: the
    first is the simple block, the last the complex one.  The permutation is fixed, so
    that it is the same at every time.  Inputs are NaN if the block is not known.
    """
    n = data.x.shape[0]
    order = jnp.asarray(np.random.default_rng(n).permutation(n), jnp.int32)
    indicator = data.features[_ROWS[block]]
    mixed = jnp.where((indicator != 0)[None, :], data.x[order], data.x)
    return jnp.where(jnp.all(jnp.isfinite(indicator)), mixed, jnp.nan), order


def accuracy(
    found: Int[Array, " n"], true: Int[Array, " n"], weight: Float[Array, " n"]
) -> Float[Array, ""]:
    """Weighted share of the rows on which both agree."""
    return jnp.sum(jnp.where(found == true, weight, 0)) / jnp.sum(weight)
