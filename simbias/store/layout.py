"""A run on disk: one zarr v3 group, readable at every moment while it is written.

    /members       status, end_time, counts of the flow       (member)
    /trajectories  every measure                              (member, time, …)
    /final         measures taken once, at the end            (member, …)
    attributes     configuration, grid, times, versions, device

One block of members is one chunk with one writer.  Within a block the status is
written last, so a reader never takes half a block for data; codecs carry a checksum,
so a flipped bit raises.  What is missing reads as NaN with status RUNNING.
"""

import dataclasses
import pathlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import zarr
from zarr.codecs import ZstdCodec

from simbias.configuration import differences
from simbias.core import Status
from simbias.ensemble.table import Column, Table

FORMAT = "simbias-1"
# Rows per chunk: about a megabyte of trajectories, at least one member.
_CHUNK_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Store:
    """An open run: `block` members are written together."""

    group: zarr.Group
    block: int

    def read(self) -> Table:
        """Everything that is stored."""
        return Table(
            **{
                name: _read_group(self.group, name)
                for name in ("members", "trajectories", "final")
            }
        )

    def write(self, table: Table, members: Iterable[int]) -> None:
        """Write the blocks that hold these members, status last."""
        for block in sorted({m // self.block for m in members}):
            rows = slice(block * self.block, (block + 1) * self.block)
            for group, columns in reversed(table.groups().items()):
                for name, column in reversed(columns.items()):
                    array = self.group[f"{group}/{name}"]
                    array[rows] = column.values[rows]  # pyright: ignore


def create_store(path: pathlib.Path, table: Table, attributes: dict[str, Any]) -> Store:
    """A new store in which nobody has started."""
    block = _block(table)
    path.parent.mkdir(parents=True, exist_ok=True)
    root = zarr.create_group(path, zarr_format=3)
    for group, columns in table.groups().items():
        for name, column in columns.items():
            values = column.values
            root.create_array(
                f"{group}/{name}",
                shape=values.shape,
                dtype=values.dtype,
                chunks=(min(block, values.shape[0]), *values.shape[1:]),
                fill_value=_fill(name, values),
                compressors=ZstdCodec(level=1, checksum=True),
                dimension_names=("member", *column.dims),
                attributes=_flags() if name == "status" else {},
            )
    # Last: a folder without attributes is not a run.
    root.attrs.update({"format": FORMAT, "block": block, **attributes})
    return Store(root, block)


def open_store(path: pathlib.Path) -> Store:
    """A store that exists.

    Raises:
        ValueError: if the folder is not a simbias run.
    """
    try:
        root = zarr.open_group(path, mode="r+")
        stored = root.attrs.get("format")
    except (FileNotFoundError, OSError) as error:
        raise ValueError(f"`{path}` is not a simbias run: {error}.") from error
    if stored != FORMAT:
        raise ValueError(
            f"`{path}` is not a simbias run: expected format {FORMAT!r}, "
            f"got {stored!r}."
        )
    return Store(root, int(root.attrs["block"]))  # pyright: ignore


def check_same(store: Store, configuration: dict[str, Any]) -> None:
    """Refuse to continue a run under another configuration.

    Raises:
        ValueError: with one line per difference.
    """
    stored = store.group.attrs["configuration"]
    lines = differences(configuration, stored)
    if lines:
        raise ValueError(
            "the run that is already there has another configuration; nothing was "
            "written. Choose another folder, or delete that one. Differences "
            "(stored -> asked for):\n  " + "\n  ".join(lines)
        )


def _read_group(root: zarr.Group, name: str) -> dict[str, Column]:
    if name not in root:
        return {}
    group: Any = root[name]
    columns = {}
    for key, array in sorted(group.arrays()):
        _, *dims = array.metadata.dimension_names
        columns[key] = Column(tuple(dims), np.array(array[:]))
    return columns


def _block(table: Table) -> int:
    per_member = sum(
        column.values[:1].nbytes
        for columns in table.groups().values()
        for column in columns.values()
    )
    return int(np.clip(_CHUNK_BYTES // max(per_member, 1), 1, 256))


def _fill(name: str, values: np.ndarray) -> float | int:
    if values.dtype.kind == "f":
        return float("nan")
    return int(Status.RUNNING) if name == "status" else -1


def _flags() -> dict[str, Any]:
    return {
        "flag_values": [int(s) for s in Status],
        "flag_meanings": " ".join(s.name for s in Status),
    }
