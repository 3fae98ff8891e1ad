"""Chunks of an array: little-endian numbers under zstd, as its zarr document says.

The codec is called by name and nothing is looked up: what lies in the folder of a run
never chooses what decodes it.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numcodecs.zstd import Zstd

from simbias.errors import BadInput

LEVEL = 1
_ZSTD = Zstd(level=LEVEL, checksum=True)


def chunk_names(
    block: int, shape: Sequence[int], chunk: Sequence[int]
) -> Iterator[tuple[str, tuple[slice, ...]]]:
    """Files of a block, below its array, and what each one holds of a row.

    Args:
        block: number of the block.
        shape: of a row.
        chunk: of a row in one chunk.
    """
    counts = [math.ceil(s / c) for s, c in zip(shape, chunk, strict=True)]
    for at in itertools.product(*map(range, counts)):
        parts = (slice(i * c, i * c + c) for i, c in zip(at, chunk, strict=True))
        yield "/".join(map(str, ("c", block, *at))), tuple(parts)


def encoded(values: np.ndarray, chunk: Sequence[int], fill: float | int) -> bytes:
    """A chunk; what `values` does not reach is filled."""
    whole = np.full(chunk, fill, values.dtype.newbyteorder("<"))
    whole[tuple(map(slice, values.shape))] = values
    return bytes(_ZSTD.encode(whole))


def decoded(raw: bytes, chunk: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """What a chunk holds.

    Raises:
        ValueError: if it is damaged, or of another size.
    """
    try:
        content = _ZSTD.decode(raw)
    except (RuntimeError, ValueError, MemoryError) as error:
        raise BadInput(f"it does not decompress ({error})") from error
    size = math.prod(chunk) * dtype.itemsize
    if len(content) != size:
        raise BadInput(f"it holds {len(content)} bytes, expected {size}")
    return np.frombuffer(content, dtype.newbyteorder("<")).reshape(chunk)
