"""Images and classes in the IDX files of MNIST."""

import math
import struct
from collections.abc import Callable

import numpy as np
from jaxtyping import UInt8

from simbias.datasets.vision._labelled import Labelled
from simbias.errors import BadInput

_UNSIGNED_BYTE = 0x08


def read_idx(name: str, raw: bytes) -> UInt8[np.ndarray, "..."]:
    """The array in an unpacked IDX file of bytes.

    Raises:
        ValueError: if it is not such a file, or not whole.
    """
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != _UNSIGNED_BYTE:
        raise BadInput(
            f"`data_dir`: {name} is not an IDX file of bytes: it begins with "
            f"{raw[:4]!r}, expected two zeros, 8 and the number of axes."
        )
    head = 4 + 4 * raw[3]
    shape = struct.unpack(f">{raw[3]}I", raw[4:head]) if len(raw) >= head else ()
    needed = head + math.prod(shape)
    if len(raw) != needed:
        raise BadInput(
            f"`data_dir`: {name} has {len(raw):,} bytes and its head asks for "
            f"{needed:,}: it is cut off or damaged."
        )
    return np.frombuffer(raw, np.uint8, offset=head).reshape(shape)


def both_parts(
    what: str, read: Callable[[str], UInt8[np.ndarray, "..."]]
) -> tuple[Labelled, Labelled]:
    """Training and test set, "n 1 28 28" with labels 0 to 9.

    Args:
        what: name of the dataset.
        read: the array in a file of this name.

    Raises:
        ValueError: for other shapes or labels.
    """
    train, test = (_part(what, read, part) for part in ("train", "t10k"))
    return train, test


def _part(
    what: str, read: Callable[[str], UInt8[np.ndarray, "..."]], part: str
) -> Labelled:
    images, labels = (
        read(f"{part}-images-idx3-ubyte"),
        read(f"{part}-labels-idx1-ubyte"),
    )
    is_sound = images.ndim == 3 and labels.shape == images.shape[:1]
    if not is_sound or images.shape[1:] != (28, 28) or labels.max(initial=0) > 9:
        raise BadInput(
            f"`data_dir`: {part} images of shape {images.shape} and labels of shape "
            f"{labels.shape} up to {labels.max(initial=0)} are not {what}: expected "
            "(n, 28, 28) and (n,) up to 9."
        )
    return Labelled(images[:, None], labels)
