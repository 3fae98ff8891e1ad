"""Whether the result of a run fits here, before anything is reserved for it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simbias.ensemble.memory import physical_memory
from simbias.errors import BadInput
from simbias.store.documents import row_shape
from simbias.store.extents import members_of
from simbias.store.place import ROOT, AbstractPlace

# A result of so many bytes is read whatever is there of it.
SMALL = 2**27
# Bytes that a byte of a chunk can stand for: zstd repeats up to 128 KiB in four.
PACKED = 2**15


class TooEarly(BadInput):
    """A large result of which next to nothing is there."""


def result_bytes(attributes: Mapping[str, Any]) -> int:
    """Bytes of the whole result, not compressed."""
    columns = attributes["columns"]
    row = sum(
        np.dtype(column["dtype"]).itemsize * math.prod(row_shape(attributes, name))
        for name, column in columns.items()
    )
    return members_of(attributes["extents"][-1]) * row


def most_of_a_state() -> int | None:
    """Bytes of a file that a state is read from: it is unpacked beside itself."""
    present = physical_memory()
    return None if present is None else present // 4


def check_room(place: AbstractPlace, attributes: Mapping[str, Any]) -> None:
    """Refuse a result that no memory holds, or of more than the files can hold.

    Raises:
        TooEarly: for a large one of which next to nothing is there.
        ValueError: for one that is larger than the memory of this machine.
    """
    needed, present = result_bytes(attributes), physical_memory()
    if needed <= SMALL:
        return
    if present is not None and needed > present:
        raise BadInput(
            f"{place}: its result has {needed / 2**30:.3g} GiB, but this machine has "
            f"{present / 2**30:.3g} GiB of memory. Read it on a larger machine."
        )
    groups = {name.split("/")[0] for name in attributes["columns"]}
    places = [place / name for name in (*groups, "work/states")]
    sizes = [pair for one in places for pair in one.sizes().items()]
    there = sum(size for name, size in sizes if not name.endswith(ROOT))
    if needed > PACKED * there:
        raise TooEarly(
            f"{place}: its result has {needed / 2**30:.3g} GiB, but only {there} bytes "
            "are stored so far. Read it when more is computed; `simbias status` shows "
            "the progress."
        )
