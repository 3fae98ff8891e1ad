"""Create a store, complete it, and make room for a larger grid."""

import math
import re
import uuid
from collections.abc import Mapping
from typing import Any

from simbias.ensemble.table import Table
from simbias.errors import BadInput
from simbias.store._columns import columns_of
from simbias.store._disk import sync
from simbias.store._faults import MOST_MEMBERS
from simbias.store._root import FORMAT, sealed, written
from simbias.store.documents import behind, documents
from simbias.store.extents import blocks_of, extent, members_of
from simbias.store.layout import Store
from simbias.store.place import ROOT, AbstractPlace
from simbias.store.plain import axis_files, clear_plain, listed

# A block is about a megabyte, and there are enough of them to share out.
_BLOCK_BYTES = 1 << 20
_LARGEST_BLOCK, _SMALLEST_BLOCK, _BLOCKS = 256, 8, 32
# What workers of a run write below it.
_OURS = re.compile(
    r"work/(leases|owners|states)/[^/]+"
    r"|(members|trajectories|final|networks)/([^/]+/)?(zarr\.json|c(/\d+)+)"
)


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
    born = {
        "format": FORMAT,
        "run": uuid.uuid4().hex,
        "block": block,
        "extents": _with_extent([], first, block, table),
        "columns": _described(table),
        **attributes,
    }
    below = {name: written(one) for name, one in documents(born).items()}
    below |= axis_files(born)
    root = sealed(born, listed(born))
    if not place.exists():
        place.make({ROOT: root, **below})
    elif (place / ROOT).create(root):
        for path in (place / ROOT).unsynced():
            sync(path)


def clear_stub(place: AbstractPlace) -> bool:
    """Remove what is left of a run that was deleted while somebody worked on it.

    False, and nothing is touched, if there is anything else.

    Only the files of one listing in which no store is are removed, so that of two who
    do this at once neither removes the store that the other has made meanwhile.
    """
    if (place / ROOT).exists():
        return False  # before a list is made, which is long for a store
    names = place.files()
    if not all(map(_OURS.fullmatch, names)) or not (names or _is_folder(place)):
        return False
    for name in names:
        (place / name).delete()
    return True


def complete_store(store: Store, table: Table) -> None:
    """Write documents that somebody who died has not written, or that were lost.

    Raises:
        ValueError: if the columns of the store are not those of the table.
    """
    if store.attributes["columns"] != _described(table):
        raise BadInput(
            f"{store.place / ROOT} is damaged, or of another version of simbias: its "
            "columns do not match its configuration. simbias.open_result reads the "
            "stored results. To compute more, choose another folder."
        )
    for name, document in behind(store.place).items():
        store.check()
        (store.place / name).write(document)
    axes = axis_files(store.attributes)
    # They are written in this order.
    if axes and not (store.place / [*axes][-1]).exists():
        for name, content in axes.items():
            store.check()
            (store.place / name).write(content)


def grow_store(store: Store, table: Table, attributes: Mapping[str, Any]) -> None:
    """Room for a larger grid; what is there stays where it is.

    The root decides, and is written at once; the documents below follow.
    """
    new = extent(attributes["configuration"])
    old, block = store.attributes["extents"], store.block
    extents = _with_extent(old, new, block, table)
    store.check()
    clear_plain(store)  # which is of the smaller grid
    grown = {**store.attributes, **attributes, "extents": extents}
    if "source" not in store.attributes:
        grown.pop("source", None)  # it is not that of the members that are there
    root = store.place / ROOT
    root.write(sealed(grown, listed(grown)))
    for path in root.unsynced():
        sync(path)
    for name, content in axis_files(grown).items():
        (store.place / name).write(content)


def _is_folder(place: AbstractPlace) -> bool:
    try:
        place.read()
    except OSError:
        return True
    return False


def _described(table: Table) -> dict[str, Any]:
    return {
        name: {"dtype": str(column.values.dtype), "dims": list(column.dims)}
        for name, column in columns_of(table)
    }


def _with_extent(
    extents: list, new: dict, block: int, table: Table
) -> list[dict[str, Any]]:
    """The extents with one more."""
    counts = [members_of(one) for one in (*extents, new)]
    if counts[-1] > MOST_MEMBERS:
        raise BadInput(
            f"`cell` × `seeds` is too large: {counts[-1]} networks, but a run has at "
            f"most {MOST_MEMBERS}. Make several runs."
        )
    blocks = blocks_of(counts, block)[-1]
    shapes = {name: list(c.values.shape[1:]) for name, c in columns_of(table)}
    return [*extents, {**new, "blocks": blocks, "shapes": shapes}]


def _block(table: Table, cells: int, first: Mapping[str, Any]) -> int:
    row = sum(column.values[:1].nbytes for _, column in columns_of(table))
    share = math.ceil(cells * first["seeds"] / _BLOCKS)
    wanted = min(max(share, _SMALLEST_BLOCK), _LARGEST_BLOCK)
    return max(1, min(wanted, _BLOCK_BYTES // max(row, 1)))
