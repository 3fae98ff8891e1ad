"""How to cut work over neurons and samples so that it fits cache and memory."""

# An n × m array up to this size is best handled whole; beyond it, a tile of this size
# and the few arrays computed from it stay in the second-level cache.
_WHOLE_BYTES = 8 * 2**20
_TILE_BYTES = 2**20
# Measures look at this many rows of a sample at a time.
ROWS = 1024


def tiles(n: int, m: int, itemsize: int) -> tuple[int, int]:
    """Number of tiles of neurons, and neurons per tile; together at least m.

    Args:
        n: samples.
        m: neurons.
        itemsize: bytes of a number.
    """
    if n * m * itemsize <= _WHOLE_BYTES:
        return 1, m
    width = max(_TILE_BYTES // (n * itemsize), 16)
    count = -(-m // width)
    return count, -(-m // count)
