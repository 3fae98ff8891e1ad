"""How to cut work over neurons so that it stays in the cache of a processor core."""

# An n × m array up to this size is best handled whole; beyond it, a tile of this size
# and the few arrays computed from it stay in the second-level cache.
_WHOLE_BYTES = 8 * 2**20
_TILE_BYTES = 2**20


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
