"""A store made ready: created, completed, grown."""

import math
from collections.abc import Mapping
from typing import Any

import zarr
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

from simbias.core import Status
from simbias.ensemble.table import Table
from simbias.store._columns import STATUS, columns_of, fill_value
from simbias.store._disk import sync
from simbias.store.extents import extent, member_rows
from simbias.store.layout import FORMAT, Store
from simbias.store.place import ROOT, AbstractPlace

# A block is about a megabyte, and there are enough of them to share out.
_BLOCK_BYTES = 1 << 20
_LARGEST_BLOCK, _SMALLEST_BLOCK, _BLOCKS = 256, 8, 32


def create_store(
    place: AbstractPlace, table: Table, attributes: Mapping[str, Any]
) -> None:
    """A new store in which nobody has started; one that is there already is kept.

    Args:
        place: where; a folder appears all at once.  In one that is there already the
            metadata of the root do, and `complete_store` adds the rest.
        table: one row of every column.
        attributes: with `configuration` and `axes`.
    """
    first = extent(attributes["configuration"])
    block = _block(table, math.prod(map(len, first["cell"].values())), first)
    extents = _with_extent([], first, block, attributes, table)
    described = {"format": FORMAT, "block": block, "extents": extents, **attributes}
    documents = _documents(table, described)
    if not place.exists():
        place.make(documents)
    elif (place / ROOT).create(documents[ROOT]):
        for path in (place / ROOT).unsynced():
            sync(path)


def complete_store(store: Store, table: Table) -> None:
    """Write metadata that a creator who died has not written, or that was lost."""
    names = [name for name, _ in columns_of(table)]
    groups = {name.split("/")[0] for name in names}
    wanted = [f"{name}/{ROOT}" for name in (*sorted(groups), *names)]
    missing = [w for w in wanted if not (store.place / w).exists()]
    if missing:
        documents = _documents(table, store.attributes)
        for name in missing:
            (store.place / name).create(documents[name])


def grow_store(store: Store, table: Table, attributes: Mapping[str, Any]) -> None:
    """Room for a larger grid; what is there stays where it is.

    The attributes come last: until then the store is what it was.
    """
    old: Any = store.group.attrs["extents"]
    new = extent(attributes["configuration"])
    extents = _with_extent(old, new, store.block, attributes, table)
    size = extents[-1]["blocks"] * store.block
    for name, column in columns_of(table):
        array: Any = store.group[name]
        trailing = zip(array.shape[1:], column.values.shape[1:], strict=True)
        array.resize((size, *(max(pair) for pair in trailing)))
    store.group.attrs.update({**attributes, "extents": extents})
    for path in (store.place / ROOT).unsynced():
        sync(path)


def _documents(table: Table, attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """The metadata of a store by name, the root's first; all follow from the root's."""
    documents: dict[str, Any] = {}
    root = zarr.create_group(MemoryStore(documents), zarr_format=3)
    block, extents = attributes["block"], attributes["extents"]
    for name, column in columns_of(table):
        shapes = [one["shapes"][name] for one in extents]
        root.create_array(
            name,
            shape=(extents[-1]["blocks"] * block, *map(max, zip(*shapes, strict=True))),
            dtype=column.values.dtype,
            chunks=(block, *(max(1, s) for s in shapes[0])),
            fill_value=fill_value(name, column.values.dtype),
            compressors=ZstdCodec(level=1, checksum=True),
            dimension_names=("member", *column.dims),
            attributes=_flags() if name == STATUS else {},
        )
    root.attrs.update(attributes)
    return {name: buffer.to_bytes() for name, buffer in documents.items()}


def _with_extent(
    extents: list, new: dict, block: int, attributes: Mapping[str, Any], table: Table
) -> list[dict[str, Any]]:
    """The extents with one more."""
    rows = member_rows([*extents, new], block, list(attributes["axes"]))[-1]
    blocks = int(rows.max()) // block + 1
    shapes = {name: list(c.values.shape[1:]) for name, c in columns_of(table)}
    return [*extents, {**new, "blocks": blocks, "shapes": shapes}]


def _block(table: Table, cells: int, first: Mapping[str, Any]) -> int:
    row = sum(column.values[:1].nbytes for _, column in columns_of(table))
    share = math.ceil(cells * first["seeds"] / _BLOCKS)
    wanted = min(max(share, _SMALLEST_BLOCK), _LARGEST_BLOCK)
    return max(1, min(wanted, _BLOCK_BYTES // max(row, 1)))


def _flags() -> dict[str, Any]:
    return {
        "flag_values": [int(s) for s in Status],
        "flag_meanings": " ".join(s.name for s in Status),
    }
