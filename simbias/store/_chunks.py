"""Chunks of an array: little-endian numbers under zstd, as its zarr document says.

The codec is called by name and nothing is looked up: what lies in the folder of a run
never chooses what decodes it.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numcodecs.vlen import VLenUTF8
from numcodecs.zstd import Zstd

from simbias.errors import BadInput

LEVEL = 1
_MAGIC = (0xFD2FB528).to_bytes(4, "little")
_ZSTD = Zstd(level=LEVEL, checksum=True)


def chunk_names(
    shape: Sequence[int], chunk: Sequence[int], *block: int
) -> Iterator[tuple[str, tuple[slice, ...]]]:
    """Files below an array, and what each one holds of it, or of a row of a block.

    Args:
        shape: of the array, or of a row.
        chunk: the same of one chunk.
        block: number of the block.
    """
    counts = [math.ceil(s / c) for s, c in zip(shape, chunk, strict=True)]
    for at in itertools.product(*map(range, counts)):
        parts = (slice(i * c, i * c + c) for i, c in zip(at, chunk, strict=True))
        yield "/".join(map(str, ("c", *block, *at))), tuple(parts)


def encoded(values: np.ndarray, chunk: Sequence[int], fill: float | int) -> bytes:
    """A chunk; what `values` does not reach is filled."""
    return packed(content(values, chunk, fill))


def content(values: np.ndarray, chunk: Sequence[int], fill: float | int) -> bytes:
    """What a chunk holds, before it is packed."""
    whole = np.full(chunk, fill, values.dtype.newbyteorder("<"))
    whole[tuple(map(slice, values.shape))] = values
    return whole.tobytes()


def text_content(values: np.ndarray) -> bytes:
    """What a chunk of texts holds, an array of objects, before it is packed."""
    return bytes(VLenUTF8().encode(values.reshape(-1)))


def packed(content: bytes) -> bytes:
    """The file of a chunk."""
    return bytes(_ZSTD.encode(content))


def _declared(raw: bytes) -> int | None:
    """Bytes that a frame of zstd says it holds; None if it does not, as ours do.

    What is to be decoded is known before anything is reserved for it.

    Reference: RFC 8878, 3.1.1.1, the header of a frame.
    """
    if len(raw) < 5 or raw[:4] != _MAGIC:
        return None
    flags = raw[4]
    is_single, width = bool(flags & 0x20), (0, 2, 4, 8)[flags >> 6]
    if is_single and not width:
        width = 1
    start = 5 + (not is_single) + (0, 1, 2, 4)[flags & 3]
    content = int.from_bytes(raw[start : start + width], "little")
    return (content + 256 if width == 2 else content) if width else None


def most_bytes(size: int) -> int:
    """Bytes that a file has at most which unpacks to so many, whatever is in it."""
    return size + size // 128 + (1 << 20)


def decoded(raw: bytes, chunk: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """What a chunk holds.

    Raises:
        ValueError: if it is damaged, or of another size.
    """
    size = math.prod(chunk) * dtype.itemsize
    return np.frombuffer(unpacked(raw, size), dtype.newbyteorder("<")).reshape(chunk)


def unpacked(raw: bytes, size: int) -> bytes:
    """What the file of a chunk holds, which must be so many bytes.

    Raises:
        ValueError: if it is damaged, or of another size.
    """
    declared = _declared(raw)
    if declared is None:
        raise BadInput("it cannot be decompressed (its size is missing)")
    if declared != size:
        raise BadInput(f"it holds {declared} bytes, expected {size}")
    try:
        content = _ZSTD.decode(raw)
    except (RuntimeError, ValueError, MemoryError) as error:
        raise BadInput(f"it cannot be decompressed ({error})") from error
    if len(content) != size:
        raise BadInput(f"it holds {len(content)} bytes, expected {size}")
    return content
