"""The zarr v3 documents below the root: all of them follow from the root's.

They are there for other readers.  simbias reads and writes by the root alone, and
looks at them only to say if they are not as they should be.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simbias.ensemble.array_attributes import EARLIER_FLAGS, FLAGS
from simbias.errors import BadInput
from simbias.store._chunks import LEVEL
from simbias.store._columns import STATUS, fill_value
from simbias.store._root import MOST_BYTES, canonical, parsed, read_root, written
from simbias.store.place import ROOT, AbstractPlace


def row_shape(attributes: Mapping[str, Any], name: str) -> list[int]:
    """Shape of a row, with room for every extent."""
    shapes = [one["shapes"][name] for one in attributes["extents"]]
    return [max(sizes) for sizes in zip(*shapes, strict=True)]


def chunk_shape(attributes: Mapping[str, Any], name: str) -> list[int]:
    """Shape of a chunk: of a block, and of a row of the first extent."""
    first = attributes["extents"][0]["shapes"][name]
    return [attributes["block"], *(max(1, size) for size in first)]


def documents(
    attributes: Mapping[str, Any], flags: Mapping[str, Any] = FLAGS
) -> dict[str, dict[str, Any]]:
    """Every document below the root, by its path; `flags` are those of a status."""
    names = attributes["columns"]
    groups = sorted({name.split("/")[0] for name in names})
    group = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
    found = {f"{name}/{ROOT}": group for name in groups}
    more = lambda name: flags if name == STATUS else {}
    array = lambda name: _array(attributes, name, more(name))
    return found | {f"{name}/{ROOT}": array(name) for name in names}


def behind(place: AbstractPlace) -> dict[str, bytes]:
    """What documents should say that are missing, or behind the run or the program.

    Raises:
        ValueError: naming the first one that says anything else.
    """
    found = {}
    for name in documents(read_root(place)):
        with contextlib.suppress(FileNotFoundError):
            found[name] = (place / name).read(MOST_BYTES)
    # Read now: who lets a run grow writes the root first.
    root = read_root(place)
    extents = root["extents"]
    grown = [
        documents({**root, "extents": extents[:count]}, flags)
        for count in range(len(extents), 0, -1)
        for flags in (FLAGS, *EARLIER_FLAGS)
    ]
    out = {}
    for name, wanted in grown[0].items():
        if name not in found:
            out[name] = written(wanted)
        elif fault := _fault(found[name], wanted):
            if not any(_fault(found[name], one[name]) is None for one in grown[1:]):
                raise BadInput(
                    f"{place / name} is damaged: {fault}. If the run is yours, delete "
                    "this file; `simbias resume` writes it again."
                )
            out[name] = written(wanted)
    return out


def _fault(raw: bytes, wanted: dict[str, Any]) -> str | None:
    """What is wrong with a document, None if nothing is."""
    try:
        found = parsed(raw)
    except ValueError as error:
        return str(error)
    if not isinstance(found, dict):
        return f"expected a table, got {found!r:.60}"
    for key in sorted({*wanted, *found}):
        expected, got = wanted.get(key, "nothing"), found.get(key, "nothing")
        if canonical(expected) != canonical(got):
            return f"`{key}` is {got!r:.200}, expected {expected!r:.200}"
    return None


def array_document(
    shape: Sequence[int],
    chunk: Sequence[int],
    dtype: str,
    fill: Any,
    dims: Sequence[str],
    attributes: Mapping[str, Any],
) -> dict[str, Any]:
    """The document of an array, of numbers or, if its dtype is "string", of texts."""
    first = {"name": "bytes", "configuration": {"endian": "little"}}
    if dtype == "string":
        first = {"name": "vlen-utf8", "configuration": {}}
    packed = {"name": "zstd", "configuration": {"level": LEVEL, "checksum": True}}
    grid = {"chunk_shape": list(chunk)}
    return {
        "shape": list(shape),
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": grid},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN" if isinstance(fill, float) else fill,
        "codecs": [first, packed],
        "attributes": dict(attributes),
        "dimension_names": list(dims),
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def _array(
    attributes: Mapping[str, Any], name: str, more: Mapping[str, Any]
) -> dict[str, Any]:
    column, blocks = attributes["columns"][name], attributes["extents"][-1]["blocks"]
    return array_document(
        [blocks * attributes["block"], *row_shape(attributes, name)],
        chunk_shape(attributes, name),
        column["dtype"],
        fill_value(name, np.dtype(column["dtype"])),
        ["member", *column["dims"]],
        more,
    )
