"""Arrays of numbers in one string of bytes, and where each one is in it."""

import base64
import gzip
from typing import Any

import numpy as np

# Bits of a float32 that are kept of its 23 behind the point: four digits and a half.
_BITS = 14
# What a float32 can hold, with room.
_LEAST, _MOST = 1e-37, 1e38


class PackedNumbers:
    """A page's numbers; `add` gives back [first byte, kind, shape]."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, values: Any) -> list[Any]:
        """Floats rounded to four digits, as float32 where that has room for them."""
        values = np.ascontiguousarray(values)
        if values.dtype.kind == "f":
            values = _rounded(values)
        kind = {"float32": "f4", "float64": "f8", "uint8": "u1"}.get(str(values.dtype))
        if kind is None:
            raise TypeError(
                f"a page holds float32, float64 and uint8, got {values.dtype}"
            )
        place = [self._size, kind, list(values.shape)]
        part = values.astype(values.dtype.newbyteorder("<")).tobytes()
        part += bytes(-len(part) % 8)  # as an array of any kind asks for
        self._parts.append(part)
        self._size += len(part)
        return place

    def text(self) -> str:
        """All of them, compressed, in base 64."""
        return compressed(b"".join(self._parts))


def compressed(content: bytes) -> str:
    """What `DecompressionStream("gzip")` undoes, in base 64; equal for equal bytes."""
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


def _rounded(values: np.ndarray) -> np.ndarray:
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    if size.size and (size.min() < _LEAST or size.max() > _MOST):
        return values.astype(np.float64)
    short = np.asarray(values, np.float32)
    drop = np.uint32(23 - _BITS)
    bits = short.view(np.uint32)
    half = np.uint32(1) << (drop - np.uint32(1))
    kept = ((bits + half) >> drop << drop).view(np.float32)
    return np.where(np.isfinite(short), kept, short)
