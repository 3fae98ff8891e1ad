"""How to cut work over neurons and samples so that it fits cache and memory."""

import jax.numpy as jnp
from jaxtyping import Array, Float

# An n × m array up to this size is handled whole, a larger one in tiles of this size:
# they and what is computed from them stay in the cache.
_TILE_BYTES = 4 * 2**20
# Tiles are computed twice.  Where each of their numbers is a long product, leaving the
# cache is cheaper than that: up to so many bytes for each term (measured on AMD EPYC).
_BYTES_PER_TERM = 2**19
_MOST_TERMS = 128
# Measures look at this many rows of a sample at a time.
ROWS = 1024


def tiles(n: int, m: int, itemsize: int, terms: int = 0) -> tuple[int, int]:
    """Number of tiles of neurons, and neurons per tile; together at least m.

    Args:
        n: samples.
        m: neurons.
        itemsize: bytes of a number.
        terms: of the product that each number of a tile is.
    """
    whole = max(_TILE_BYTES, _BYTES_PER_TERM * min(terms, _MOST_TERMS))
    if n * m * itemsize <= whole:
        return 1, m
    width = max(_TILE_BYTES // (n * itemsize), 16)
    count = -(-m // width)
    return count, -(-m // count)


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
