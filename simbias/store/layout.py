"""A stored run: one zarr v3 group, readable at every moment while it is written.

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
from collections.abc import Iterator
from typing import Any

import numpy as np
import zarr

from simbias.core import Status
from simbias.ensemble.table import Column, Table
from simbias.store._columns import STATUS, columns_of, fill_value
from simbias.store._disk import sync
from simbias.store._root import fault_of
from simbias.store.address import place_at
from simbias.store.extents import member_rows
from simbias.store.place import ROOT, AbstractPlace, Address, Unreachable, naming

FORMAT = "simbias-2"


@dataclasses.dataclass(frozen=True)
class Store:
    """An open run: `block` members are written together."""

    place: AbstractPlace
    group: zarr.Group
    block: int

    @property
    def work(self) -> AbstractPlace:
        """Place of leases and lanes in flight."""
        return self.place / "work"

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
        names = (self.place / STATUS / "c").files()
        return {int(name) for name in names if name.isdigit()}

    def is_committed(self, block: int) -> bool:
        """True if a block is written."""
        return self._status(block).exists()

    def commit(self, block: int, table: Table) -> None:
        """Write a block, all of whose members are done; the status last.

        Raises:
            OSError: naming the array that could not be written.
        """
        for name, column in columns_of(table):
            try:
                with naming(self.place / name):
                    self._write(name, block, column.values)
            except Unreachable:
                raise
            except OSError:
                if self.is_committed(block):
                    return  # by another process, while this one slept
                raise

    def _write(self, name: str, block: int, values: np.ndarray) -> None:
        # Also where nothing but NaN was recorded: a chunk that is not there is a chunk
        # that was lost.
        with zarr.config.set({"array.write_empty_chunks": True}):
            array = self._array(name)
        # The array may have grown wider since this process opened the store.
        rows = slice(block * self.block, (block + 1) * self.block)
        array[(rows, *map(slice, values.shape[1:]))] = values
        for path in (self.place / name / "c" / str(block)).unsynced():
            sync(path)

    def forget(self, block: int) -> None:
        """Undo a commit, so that the block is computed again."""
        self._status(block).delete()

    def read(self) -> tuple[Table, dict[int, str]]:
        """Every member of the grid, in its order, and what is wrong with which block.

        The rows of a damaged block read as missing.
        """
        rows = self.rows()
        wrong: dict[int, str] = {}
        here = self.committed()
        columns = {name: self._column(name, here, wrong) for name in self._names()}
        blocks = rows // self.block
        is_running = columns[STATUS].values[rows] == Status.RUNNING
        for block in here & set(np.unique(blocks[is_running]).tolist()):
            what = f"{STATUS}/c/{block} holds members that are not done"
            wrong.setdefault(block, what)
        is_bad = np.isin(blocks, [*wrong, *(set(np.unique(blocks).tolist()) - here)])
        table: dict[str, dict[str, Column]] = {}
        for name, column in columns.items():
            values = column.values[rows]
            values[is_bad] = fill_value(name, values.dtype)
            group, key = name.split("/")
            table.setdefault(group, {})[key] = Column(column.dims, values)
        groups = {k: table.get(k, {}) for k in ("members", "trajectories", "final")}
        return Table(**groups), wrong

    def _status(self, block: int) -> AbstractPlace:
        return self.place / STATUS / "c" / str(block)

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
            place = self.place / name / ROOT
            raise ValueError(f"{place} is missing or damaged: {error!r}.") from error

    def _column(self, name: str, committed: set[int], wrong: dict[int, str]) -> Column:
        """A whole array; blocks that cannot be read are added to `wrong`."""
        array = self._array(name)
        _, *dims = array.metadata.dimension_names
        nothing = lambda: np.full(
            array.shape, fill_value(name, array.dtype), array.dtype
        )
        if not committed:
            return Column(tuple(dims), nothing())
        here = set((self.place / name).files())
        for block, chunk in self._chunks(name, array, committed):
            if chunk not in here:
                wrong.setdefault(block, f"{name}/{chunk} is missing")
        try:
            values = np.array(array[:])
        except Unreachable:
            raise
        except Exception:  # of any codec: which block it is, is found below
            values = nothing()
            for block in committed:
                part = slice(block * self.block, (block + 1) * self.block)
                try:
                    values[part] = array[part]
                except Unreachable:
                    raise
                except Exception as error:
                    wrong.setdefault(block, f"{name}/c/{block} is damaged: {error}")
        return Column(tuple(dims), values)

    def _chunks(
        self, name: str, array: Any, committed: set[int]
    ) -> Iterator[tuple[int, str]]:
        """Files below the array that committed blocks must have."""
        extents: Any = self.group.attrs["extents"]
        first = 0
        for extent in extents:
            counts = [
                math.ceil(s / c)
                for s, c in zip(extent["shapes"][name], array.chunks[1:], strict=True)
            ]
            below = [map(str, at) for at in itertools.product(*map(range, counts))]
            below = ["/".join(["", *at]) for at in below]
            for block in committed.intersection(range(first, extent["blocks"])):
                yield from ((block, f"c/{block}{rest}") for rest in below)
            first = extent["blocks"]


def open_store(address: Address) -> Store:
    """A store that exists.

    Raises:
        ValueError: if the place is not a simbias run, or one of another layout.
    """
    place = place_at(address)
    try:
        root = zarr.open_group(place.zarr(), mode="r+")
        stored = root.attrs.get("format")
    except json.JSONDecodeError as error:
        raise ValueError(f"{place / ROOT} is damaged: {error}.") from error
    except Unreachable:
        raise
    except (FileNotFoundError, OSError) as error:
        raise ValueError(f"`{place}` is not a simbias run: {error}.") from error
    if stored != FORMAT:
        raise ValueError(
            f"`{place}` is not a simbias run of this version: expected format "
            f"{FORMAT!r}, got {stored!r}. Choose another folder."
        )
    attributes: Any = root.attrs.asdict()
    if fault := fault_of(attributes):
        raise ValueError(f"{place / ROOT} is damaged: {fault}.")
    return Store(place, root, attributes["block"])
