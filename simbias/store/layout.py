"""A run on disk: one zarr v3 group, readable at every moment while it is written.

    /members       status, end_time, counts of the flow       (member)
    /trajectories  every measure                              (member, time, …)
    /final         measures taken once, at the end            (member, …)
    attributes     configuration, extents, times, versions, device
    work/          leases and lanes in flight; gone when the run is finished

One block of members is one chunk with one writer, written once, when all of its
members are done, the status last: a block without status is not there.  Codecs carry a
checksum, so a flipped bit raises.  What is missing reads as NaN with status RUNNING.
"""

import dataclasses
import itertools
import json
import math
import os
import pathlib
import shutil
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import zarr
from zarr.codecs import ZstdCodec

from simbias.core import Status
from simbias.ensemble.table import Column, Table
from simbias.store._disk import sync
from simbias.store.extents import extent, member_rows

FORMAT = "simbias-2"
STATUS = "members/status"
# A block is about a megabyte, and there are enough of them to share out.
_BLOCK_BYTES = 1 << 20
_LARGEST_BLOCK, _SMALLEST_BLOCK, _BLOCKS = 256, 8, 32


@dataclasses.dataclass(frozen=True)
class Store:
    """An open run: `block` members are written together."""

    path: pathlib.Path
    group: zarr.Group
    block: int

    @property
    def work(self) -> pathlib.Path:
        """Folder of leases and lanes in flight."""
        return self.path / "work"

    @property
    def attributes(self) -> dict[str, Any]:
        """What the run carries besides its arrays."""
        return dict(self.group.attrs)

    def rows(self) -> np.ndarray:
        """Row of every member, in the order of the grid."""
        extents: Any = self.group.attrs["extents"]
        axes: Any = self.group.attrs["axes"]
        return member_rows(extents, self.block, list(axes))[-1]

    def committed(self) -> set[int]:
        """Blocks that are written."""
        folder = self.path / STATUS / "c"
        names = os.listdir(folder) if folder.exists() else []
        return {int(name) for name in names if name.isdigit()}

    def is_committed(self, block: int) -> bool:
        """True if a block is written."""
        return (self.path / STATUS / "c" / str(block)).exists()

    def commit(self, block: int, table: Table) -> None:
        """Write a block, all of whose members are done; the status last.

        Raises:
            OSError: naming the array that could not be written.
        """
        for name, column in _columns(table):
            try:
                self._write(name, block, column.values)
            except OSError as error:
                if self.is_committed(block):
                    return  # by another process, while this one slept
                path = str(self.path / name)
                raise OSError(error.errno, error.strerror, path) from error

    def _write(self, name: str, block: int, values: np.ndarray) -> None:
        # Also where nothing but NaN was recorded: a chunk that is not there is a chunk
        # that was lost.
        with zarr.config.set({"array.write_empty_chunks": True}):
            array = self._array(name)
        # The array may have grown wider since this process opened the store.
        rows = slice(block * self.block, (block + 1) * self.block)
        array[(rows, *map(slice, values.shape[1:]))] = values
        chunks = self.path / name / "c"
        one = chunks / str(block)
        for path in (one, *one.rglob("*"), chunks):
            sync(path)

    def forget(self, block: int) -> None:
        """Undo a commit, so that the block is computed again."""
        (self.path / STATUS / "c" / str(block)).unlink(missing_ok=True)

    def read(self) -> tuple[Table, dict[int, str]]:
        """Every member of the grid, in its order, and what is wrong with which block.

        The rows of a damaged block read as missing.
        """
        rows = self.rows()
        wrong: dict[int, str] = {}
        columns = {name: self._column(name, wrong) for name in self._names()}
        status = columns[STATUS].values
        here = set(self.committed())
        used = set(np.unique(rows // self.block).tolist())
        for block in here & used:
            mine = rows[rows // self.block == block]
            if block not in wrong and (status[mine] == Status.RUNNING).any():
                wrong[block] = f"{STATUS}/c/{block} holds members that are not done"
        is_bad = np.isin(rows // self.block, [*wrong, *(used - here)])
        table: dict[str, dict[str, Column]] = {}
        for name, column in columns.items():
            values = column.values[rows]
            values[is_bad] = fill_value(name, values.dtype)
            group, key = name.split("/")
            table.setdefault(group, {})[key] = Column(column.dims, values)
        groups = {k: table.get(k, {}) for k in ("members", "trajectories", "final")}
        return Table(**groups), wrong

    def _names(self) -> list[str]:
        extents: Any = self.group.attrs["extents"]
        order = ("members", "trajectories", "final")
        return sorted(
            extents[-1]["shapes"], key=lambda n: (order.index(n.split("/")[0]), n)
        )

    def _array(self, name: str) -> Any:
        try:
            return self.group[name]
        except (KeyError, ValueError) as error:
            path = self.path / name / "zarr.json"
            raise ValueError(f"{path} is missing or damaged: {error!r}.") from error

    def _column(self, name: str, wrong: dict[int, str]) -> Column:
        """A whole array; blocks that cannot be read are added to `wrong`."""
        array = self._array(name)
        _, *dims = array.metadata.dimension_names
        for block in self.committed():
            for chunk in self._chunks(name, array, block):
                if not (self.path / chunk).exists():
                    wrong.setdefault(block, f"{chunk} is missing")
        try:
            values = np.array(array[:])
        except Exception:  # of any codec: which block it is, is found below
            values = np.full(array.shape, fill_value(name, array.dtype), array.dtype)
            for block in self.committed():
                part = slice(block * self.block, (block + 1) * self.block)
                try:
                    values[part] = array[part]
                except Exception as error:
                    wrong.setdefault(block, f"{name}/c/{block} is damaged: {error}")
        return Column(tuple(dims), values)

    def _chunks(self, name: str, array: Any, block: int) -> Iterator[str]:
        """Files that a committed block must have."""
        extents: Any = self.group.attrs["extents"]
        shape = next(e["shapes"][name] for e in extents if block < e["blocks"])
        counts = [
            math.ceil(s / c) for s, c in zip(shape, array.chunks[1:], strict=True)
        ]
        for where in itertools.product(*map(range, counts)):
            yield "/".join([name, "c", str(block), *map(str, where)])


def create_store(
    path: pathlib.Path, table: Table, attributes: Mapping[str, Any]
) -> None:
    """A new store in which nobody has started; one that is there already is kept.

    Args:
        path: the folder; it appears all at once.
        table: one row of every column.
        attributes: with `configuration` and `axes`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent / f".{path.name}.{uuid.uuid4().hex}.partial"
    try:
        root = zarr.create_group(partial, zarr_format=3)
        first = extent(attributes["configuration"])
        block = _block(table, math.prod(map(len, first["cell"].values())), first)
        extents, size = _with_extent([], first, block, attributes, table)
        for name, column in _columns(table):
            shape = (size, *column.values.shape[1:])
            root.create_array(
                name,
                shape=shape,
                dtype=column.values.dtype,
                chunks=(block, *(max(1, s) for s in shape[1:])),
                fill_value=fill_value(name, column.values.dtype),
                compressors=ZstdCodec(level=1, checksum=True),
                dimension_names=("member", *column.dims),
                attributes=_flags() if name == STATUS else {},
            )
        root.attrs.update(
            {"format": FORMAT, "block": block, "extents": extents, **attributes}
        )
        sync(partial / "zarr.json")
        try:
            partial.rename(path)
        except OSError:
            if not path.exists():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def grow_store(store: Store, table: Table, attributes: Mapping[str, Any]) -> None:
    """Room for a larger grid; what is there stays where it is.

    The attributes come last: until then the store is what it was.
    """
    old: Any = store.group.attrs["extents"]
    new = extent(attributes["configuration"])
    extents, size = _with_extent(old, new, store.block, attributes, table)
    for name, column in _columns(table):
        array: Any = store.group[name]
        trailing = zip(array.shape[1:], column.values.shape[1:], strict=True)
        array.resize((size, *(max(pair) for pair in trailing)))
    store.group.attrs.update({**attributes, "extents": extents})
    sync(store.path / "zarr.json")


def open_store(path: pathlib.Path) -> Store:
    """A store that exists.

    Raises:
        ValueError: if the folder is not a simbias run, or one of another layout.
    """
    try:
        root = zarr.open_group(path, mode="r+")
        stored = root.attrs.get("format")
    except json.JSONDecodeError as error:
        raise ValueError(f"{path / 'zarr.json'} is damaged: {error}.") from error
    except (FileNotFoundError, OSError) as error:
        raise ValueError(f"`{path}` is not a simbias run: {error}.") from error
    if stored != FORMAT:
        raise ValueError(
            f"`{path}` is not a simbias run of this version: expected format "
            f"{FORMAT!r}, got {stored!r}. Choose another folder."
        )
    return Store(path, root, int(root.attrs["block"]))  # pyright: ignore


def fill_value(name: str, dtype: np.dtype) -> float | int:
    """What a row holds that nobody has computed."""
    if dtype.kind == "f":
        return float("nan")
    return int(Status.RUNNING) if name == STATUS else -1


def _columns(table: Table) -> list[tuple[str, Column]]:
    """Columns by path, the status last."""
    columns = [
        (f"{group}/{key}", column)
        for group, columns in table.groups().items()
        for key, column in columns.items()
    ]
    return sorted(columns, key=lambda pair: pair[0] == STATUS)


def _with_extent(
    extents: list, new: dict, block: int, attributes: Mapping[str, Any], table: Table
) -> tuple[list[dict[str, Any]], int]:
    """The extents with one more, and the number of rows, whole blocks."""
    rows = member_rows([*extents, new], block, list(attributes["axes"]))[-1]
    blocks = int(rows.max()) // block + 1
    shapes = {name: list(c.values.shape[1:]) for name, c in _columns(table)}
    return [*extents, {**new, "blocks": blocks, "shapes": shapes}], blocks * block


def _block(table: Table, cells: int, first: Mapping[str, Any]) -> int:
    row = sum(column.values[:1].nbytes for _, column in _columns(table))
    share = math.ceil(cells * first["seeds"] / _BLOCKS)
    wanted = min(max(share, _SMALLEST_BLOCK), _LARGEST_BLOCK)
    return max(1, min(wanted, _BLOCK_BYTES // max(row, 1)))


def _flags() -> dict[str, Any]:
    return {
        "flag_values": [int(s) for s in Status],
        "flag_meanings": " ".join(s.name for s in Status),
    }
