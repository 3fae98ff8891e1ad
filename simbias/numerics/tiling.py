"""How to cut work over neurons and samples so that it fits cache and memory."""

import jax.numpy as jnp
from jaxtyping import Array, Float

# An n × m array up to this size is handled whole, a larger one in tiles of this size:
# they and what is computed from them stay in the cache.
_TILE_BYTES = 4 * 2**20
# What a tile's products take to write and read again is what products of about this
# many terms take to compute twice (`benchmarks/throughput.py`).
_LEAST_TERMS = 16
# More than this is not kept, that a member at the paper's size stays small.
_KEPT_BYTES = 64 * 2**20
# Measures look at this many rows of a sample at a time.
ROWS = 1024


def tiles(n: int, m: int, itemsize: int) -> tuple[int, int]:
    """Number of tiles of neurons, and neurons per tile; together at least m.

    Args:
        n: samples.
        m: neurons.
        itemsize: bytes of a number.
    """
    if n * m * itemsize <= _TILE_BYTES:
        return 1, m
    width = max(_TILE_BYTES // (n * itemsize), 16)
    count = -(-m // width)
    return count, -(-m // count)


def keeps_products(n: int, m: int, e: int, itemsize: int) -> bool:
    """Whether products of two passes over n × m are kept, not computed twice.

    Args:
        n: samples.
        m: neurons.
        e: terms of each product.
        itemsize: bytes of a number.
    """
    return e >= _LEAST_TERMS and n * m * itemsize <= _KEPT_BYTES


def columns_cut(
    rows: Float[Array, "q m"], count: int, width: int
) -> Float[Array, "t q c"]:
    """`count` tiles of `width` columns each; zeros fill the last."""
    q, m = rows.shape
    rows = jnp.pad(rows, ((0, 0), (0, count * width - m)))
    return jnp.moveaxis(rows.reshape(q, count, width), 1, 0)


def columns_joined(pieces: Float[Array, "t q c"], m: int) -> Float[Array, "q m"]:
    """The first m columns of tiles side by side."""
    q = pieces.shape[1]
    return jnp.moveaxis(pieces, 0, 1).reshape(q, -1)[:, :m]
