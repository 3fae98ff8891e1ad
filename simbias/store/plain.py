"""A run as plain data: arrays over the grid, for who has xarray and no simbias.

`xr.open_zarr(run)` finds at the root what simbias gives: axes of the grid, seed and
time as coordinates, a unit and a long name everywhere.  The root lists these arrays
(consolidated metadata) from the start.  Axes are written at once, values when every
member is done, the status last; until then they read as missing, with status RUNNING.
simbias itself reads none of this.  What of it is lost, or is not what
the members say, is written again by whoever next asks for the finished run.
"""

import errno
from collections.abc import Container, Iterator, Mapping
from typing import Any

from simbias.ensemble.table import Table
from simbias.store._chunks import most_bytes, packed, unpacked
from simbias.store._columns import STATUS
from simbias.store._disk import sync
from simbias.store._plain_arrays import PlainArray, name_of, plain_arrays
from simbias.store._root import (
    MOST_BYTES,
    canonical,
    parsed,
    read_document,
    sealed,
    written,
)
from simbias.store.layout import Store, open_store
from simbias.store.lease import alone
from simbias.store.place import ROOT, AbstractPlace, Unreachable

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# What of a document of an array decides what a reader of the root's list sees.
_SEEN = ("shape", "data_type", "chunk_grid", "dimension_names", "attributes")


def listed(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the root says of the arrays beside it, None for a run that has none."""
    if "described" not in attributes:
        return None
    documents = {k: one.document() for k, one in plain_arrays(attributes).items()}
    return {"kind": "inline", "must_understand": False, "metadata": documents}


def axis_files(attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """Files of coordinates, whose values are known from the start."""
    found: dict[str, bytes] = {}
    if "described" not in attributes:
        return found
    for name, one in plain_arrays(attributes).items():
        if one.values is not None:
            found[f"{name}/{ROOT}"] = written(one.document())
            for file, part in one.chunks():
                found[f"{name}/{file}"] = packed(one.content(one.values[(*part, ...)]))
    return found


def clear_plain(store: Store) -> None:
    """Remove what is there, for a run that is about to grow."""
    for name in plain_arrays(store.attributes):
        (store.place / name).clear()


def write_plain(store: Store, table: Table) -> None:
    """Write what of the plain data of a finished run is not what its members say.

    Does nothing in a place that cannot be written, or if the run grows meanwhile.

    Raises:
        OSError: if it cannot be written though the place can, as on a full disk.
        Replaced: if the run is not there any more.
    """
    if not plain_faults(store, table):
        return
    try:
        with alone(store.work, store.check):
            mine = canonical(store.attributes)
            is_same = lambda: canonical(open_store(store.place).attributes) == mine
            if is_same():
                _write(store, table, plain_faults(store, table))
            if not is_same():  # another one took us for dead, and let the run grow
                clear_plain(store)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise


def lacks_plain(store: Store) -> bool:
    """Whether anything of it is missing, of a run that has it."""
    if "described" not in store.attributes:
        return False
    wanted = set()
    for name, one in plain_arrays(store.attributes).items():
        wanted |= {f"{name}/{ROOT}", *(f"{name}/{file}" for file, _ in one.chunks())}
    return bool(wanted - set(store.place.files()))


def plain_faults(store: Store, table: Table) -> dict[str, str]:
    """Files of the plain data that are not what a whole table says, and why not.

    They are unpacked and compared, so that another zstd may have written them.
    """
    if "described" not in store.attributes:
        return {}
    there = {*store.place.files()}
    arrays = plain_arrays(store.attributes)
    faults = {}
    for name in sorted(arrays, key=lambda name: name == name_of(STATUS)):
        for file, document, content in _files(name, arrays[name], table):
            if file not in there:
                faults[file] = "is missing"
            elif fault := _fault(store.place / file, document, content):
                faults[file] = fault
    if fault := listing_fault(store):
        faults[ROOT] = fault
    return faults


def listing_fault(store: Store) -> str | None:
    """What is wrong with the root's list of the plain data, None if nothing is.

    zarr may have listed more.
    """
    wanted = listed(store.attributes)
    if wanted is None:
        return None
    found = read_document(store.place).get("consolidated_metadata")
    found = found.get("metadata") if isinstance(found, dict) else None
    found = found if isinstance(found, dict) else {}
    for name, document in wanted["metadata"].items():
        one = found.get(name)
        if not isinstance(one, dict):
            return f"its `consolidated_metadata` does not list {name}"
        for key in _SEEN:
            if canonical(one.get(key)) != canonical(document[key]):
                return f"its `consolidated_metadata` has other values for {name}"
    return None


def _files(
    name: str, one: PlainArray, table: Table
) -> Iterator[tuple[str, dict[str, Any] | None, bytes]]:
    """Files of an array: its document, or else the content of a chunk."""
    yield f"{name}/{ROOT}", one.document(), b""
    if one.column is None:
        values = one.values
    else:
        group, _, key = one.column.partition("/")
        values = table.groups()[group][key].values.reshape(one.shape)
    assert values is not None
    for file, part in one.chunks():
        yield f"{name}/{file}", None, one.content(values[(*part, ...)])


def _fault(
    place: AbstractPlace, document: dict[str, Any] | None, content: bytes
) -> str | None:
    """What is wrong with a file, None if nothing is."""
    try:
        if document is not None:
            found = parsed(place.read(MOST_BYTES))
            is_same = canonical(found) == canonical(document)
            return None if is_same else "has other content"
        raw = place.read(most_bytes(len(content)))
        is_same = unpacked(raw, len(content)) == content
        return None if is_same else "has other values than the blocks"
    except Unreachable:
        raise
    except (OSError, ValueError) as error:
        return f"is damaged: {error}"


def _write(store: Store, table: Table, faults: Container[str]) -> None:
    arrays = plain_arrays(store.attributes)
    for name in sorted(arrays, key=lambda name: name == name_of(STATUS)):
        is_new = False
        for file, document, content in _files(name, arrays[name], table):
            if file not in faults:
                continue
            is_new, place = True, store.place / file
            store.check()
            raw = packed(content) if document is None else written(document)
            try:
                place.write(raw)
            except IsADirectoryError:
                place.clear()
                place.write(raw)
        if is_new:
            for path in (store.place / name).unsynced():
                sync(path)
    if ROOT in faults:
        store.check()
        root = store.place / ROOT
        root.write(sealed(store.attributes, listed(store.attributes)))
        for path in root.unsynced():
            sync(path)
