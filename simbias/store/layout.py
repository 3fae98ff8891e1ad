"""A stored run: one zarr v3 group, readable at every moment while it is written.

    /members       status, end_time, counts of the flow       (member)
    /trajectories  every measure                              (member, time, …)
    /final         measures taken once, at the end            (member, …)
    /networks      arrays of networks that are kept           (member, kept, …)
    attributes     number of the run, configuration, extents, columns, versions, device,
                   and a checksum of these
    work/          leases and lanes in flight; gone when the run is finished
    /NAME          the same over the grid, with coordinates, for others: see `plain`

One block of members is one chunk with one writer, written once, when all of its
members are done, the status last: a block without status is not there.  Codecs carry a
checksum, so a flipped bit raises; the end of a file says which chunk it is.  What is
missing reads as NaN with status RUNNING.  The root decides what is read and how; the
documents below follow from it.
"""

import dataclasses
import functools
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from simbias.core import Status
from simbias.ensemble.table import GROUPS, Column, Table
from simbias.errors import BadInput
from simbias.store._chunks import chunk_names, decoded, encoded, most_bytes
from simbias.store._columns import STATUS, columns_of, fill_value
from simbias.store._disk import sync
from simbias.store._mark import Marks, unmarked
from simbias.store._root import read_root
from simbias.store.address import place_at
from simbias.store.documents import behind, chunk_shape, row_shape
from simbias.store.extents import last_rows
from simbias.store.place import (
    AbstractPlace,
    Address,
    Replaced,
    Unreachable,
    naming,
)
from simbias.store.room import check_room
from simbias.store.watch import Watch

# A request to an object store takes long, and costs nothing but waiting.
READS_AT_ONCE = 10


@dataclasses.dataclass(frozen=True)
class Store:
    """An open run: `block` members are written together."""

    place: AbstractPlace
    attributes: dict[str, Any]
    """What the run carries besides its arrays."""
    watch: Watch

    @property
    def block(self) -> int:
        """Members that are written together."""
        return self.attributes["block"]

    @functools.cached_property
    def marks(self) -> Marks:
        """What the file of a chunk ends with."""
        return Marks(self.attributes)

    @property
    def work(self) -> AbstractPlace:
        """Place of leases and lanes in flight."""
        return self.place / "work"

    def check(self) -> None:
        """Return if the run is still the one that was opened.

        Raises:
            Replaced: if it was deleted, or is another one.
        """
        self.watch.check()

    def rows(self) -> np.ndarray:
        """Row of every member, in the order of the grid."""
        extents, axes = self.attributes["extents"], self.attributes["axes"]
        return last_rows(extents, self.block, list(axes))

    def committed(self) -> set[int]:
        """Blocks that are written."""
        names = set((self.place / STATUS / "c").files())
        blocks = range(self.attributes["extents"][-1]["blocks"])
        return {block for block in blocks if str(block) in names}

    def is_whole(self) -> bool:
        """True if all blocks are written."""
        return len(self.committed()) >= self.attributes["extents"][-1]["blocks"]

    def is_committed(self, block: int) -> bool:
        """True if a block is written."""
        try:
            self._status(block).tag()
        except FileNotFoundError:
            return False
        return True

    def commit(self, block: int, table: Table) -> None:
        """Write a block, all of whose members are done; the status last.

        Raises:
            OSError: naming the array that could not be written.
            Replaced: if the run is not there any more.
        """
        for name, column in columns_of(table):
            try:
                with naming(self.place / name):
                    self._write(name, block, column.values)
            except (Unreachable, Replaced):
                raise
            except OSError:
                self.check()
                if self.is_committed(block):
                    return  # by another process, while this one slept
                raise

    def _write(self, name: str, block: int, values: np.ndarray) -> None:
        chunk = chunk_shape(self.attributes, name)
        fill = fill_value(name, values.dtype)
        for file, part in chunk_names(values.shape[1:], chunk[1:], block):
            content = encoded(values[(..., *part)], chunk, fill)
            content += self.marks.of(f"{name}/{file}")
            self._put(self.place / name / file, content)
        for path in (self.place / name / "c" / str(block)).unsynced():
            sync(path)

    def _put(self, place: AbstractPlace, content: bytes) -> None:
        """Write a file of this run.

        In an object store one may fall asleep between a look and its write.  What is
        there by then is left alone: it is replaced only if it is what was looked at.
        """
        self.check()
        while not place.create(content):
            old = place.read()
            self.check()
            if old == content or place.swap(old, content):
                return

    def forget(self, block: int) -> None:
        """Undo a commit, so that the block is computed again."""
        self.check()
        self._status(block).delete()

    def statuses(self) -> np.ndarray:
        """Status of every member, in the order of the grid, of what is written.

        The rest, and what is damaged, is RUNNING.
        """
        with ThreadPoolExecutor(READS_AT_ONCE) as pool:
            return self._column(STATUS, self.committed(), {}, pool).values[self.rows()]

    def read(self, *, is_checked: bool = True) -> tuple[Table, dict[int, str]]:
        """Every member of the grid, in its order, and what is wrong with which block.

        The rows of a damaged block read as missing.  Documents are looked at, though
        nothing of them is used, if it `is_checked`.

        Raises:
            ValueError: if a document is missing, or is not as it should be.
            Replaced: if the run is not there any more.
        """
        check_room(self.place, self.attributes)
        for name in behind(self.place) if is_checked else ():
            if not (self.place / name).exists():
                raise BadInput(
                    f"{self.place / name} is missing. To write it again, continue the "
                    "run (`simbias resume`)."
                )
        rows = self.rows()
        wrong: dict[int, str] = {}
        here = self.committed()
        with ThreadPoolExecutor(READS_AT_ONCE) as pool:
            columns = {n: self._column(n, here, wrong, pool) for n in self._names()}
        blocks = rows // self.block
        is_running = columns[STATUS].values[rows] == Status.RUNNING
        is_running |= ~np.isin(columns[STATUS].values[rows], [*Status])
        for block in here & set(np.unique(blocks[is_running]).tolist()):
            what = f"{STATUS}/c/{block} has networks that are not done"
            wrong.setdefault(block, what)
        is_bad = np.isin(blocks, [*wrong, *(set(np.unique(blocks).tolist()) - here)])
        table: dict[str, dict[str, Column]] = {}
        for name, column in columns.items():
            values = column.values[rows]
            values[is_bad] = fill_value(name, values.dtype)
            group, key = name.split("/")
            table.setdefault(group, {})[key] = Column(column.dims, values)
        self.check()
        return Table(**{group: table.get(group, {}) for group in GROUPS}), wrong

    def _status(self, block: int) -> AbstractPlace:
        return self.place / STATUS / "c" / str(block)

    def _names(self) -> list[str]:
        return sorted(
            self.attributes["columns"], key=lambda n: (GROUPS.index(n.split("/")[0]), n)
        )

    def _column(
        self,
        name: str,
        committed: set[int],
        wrong: dict[int, str],
        pool: ThreadPoolExecutor,
    ) -> Column:
        """A whole array; blocks that cannot be read are added to `wrong`."""
        described = self.attributes["columns"][name]
        dtype = np.dtype(described["dtype"])
        chunk = chunk_shape(self.attributes, name)
        size = self.attributes["extents"][-1]["blocks"] * self.block
        shape = (size, *row_shape(self.attributes, name))
        values = np.full(shape, fill_value(name, dtype), dtype)

        most = most_bytes(math.prod(chunk) * dtype.itemsize)

        def read(block: int, file: str, part: tuple[slice, ...]) -> None:
            if block in wrong:
                return
            first = block * self.block
            room = values[(slice(first, first + self.block), *part)]
            try:
                raw = (self.place / name / file).read(most)
                raw = unmarked(raw, self.marks.of(f"{name}/{file}"))
                room[:] = decoded(raw, chunk, dtype)[tuple(map(slice, room.shape))]
            except Unreachable:
                raise
            except FileNotFoundError:
                wrong.setdefault(block, f"{name}/{file} is missing")
            except (ValueError, OSError) as error:
                wrong.setdefault(block, f"{name}/{file} is damaged: {error}")

        jobs = list(self._chunks(name, chunk, committed))
        list(pool.map(read, *zip(*jobs, strict=True)) if jobs else ())
        return Column(tuple(described["dims"]), values)

    def _chunks(
        self, name: str, chunk: list[int], committed: set[int]
    ) -> Iterator[tuple[int, str, tuple[slice, ...]]]:
        """Files that committed blocks must have, and what they hold of a row."""
        first = 0
        for extent in self.attributes["extents"]:
            for block in sorted(committed.intersection(range(first, extent["blocks"]))):
                shape = extent["shapes"][name]
                for file, part in chunk_names(shape, chunk[1:], block):
                    yield block, file, part
            first = extent["blocks"]


def open_store(address: Address) -> Store:
    """A store that exists.

    Raises:
        ValueError: if the place is not a simbias run, or one of another layout.
    """
    place = place_at(address)
    try:
        held = place.held()
    except NotADirectoryError as error:
        raise BadInput(
            f"`{place}` is not a simbias run: part of the path is a file. Give the "
            "folder of a run."
        ) from error
    except OSError as error:
        raise BadInput(
            f"`{place}` is not a simbias run: {error.strerror or error}."
        ) from error
    attributes = read_root(held)
    return Store(held, attributes, Watch(place_at(str(place)), attributes))
