"""The root's document: it decides everything else, and carries its own checksum.

Nothing here believes what is read: a folder may come from a stranger.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from simbias.errors import BadInput
from simbias.store._faults import fault_of
from simbias.store.place import ROOT, AbstractPlace, Unreachable

# Earlier formats are read, and stay as they are.  In the first attributes are tables
# and chunks bear no mark; in the second a mark says the place of a chunk, not its run.
FORMAT, MARKS_A_PLACE, MARKS_NOTHING = "simbias-5", "simbias-4", "simbias-3"
# Attributes that are as they are; the others are texts of JSON: NetCDF has no tables.
_SIMPLE = ("format", "run", "block", "device", "citation")
_CHECKSUM = "sha256"
_HEAD = {"zarr_format": 3, "node_type": "group"}

# Bytes of a document, tables in tables, and bits of a number.
MOST_BYTES, _DEEPEST, _MOST_BITS = 1 << 25, 50, 1000


def parsed(raw: bytes) -> Any:
    """What a document says.

    Raises:
        ValueError: if it is no JSON, nested too deeply, or with a number too long.
    """
    try:
        document = json.loads(raw.decode())
    except RecursionError:
        raise BadInput("it is nested too deeply") from None
    level = [document]
    for _ in range(_DEEPEST):
        if any(type(v) is int and v.bit_length() > _MOST_BITS for v in level):
            raise BadInput("it holds a number that is too long")
        tables = [
            v.values() if isinstance(v, dict) else v for v in level if _is_some(v)
        ]
        level = [value for table in tables for value in table]
    if level:
        raise BadInput("it is nested too deeply")
    return document


def _is_some(value: Any) -> bool:
    return isinstance(value, (dict, list))


def written(document: Mapping[str, Any]) -> bytes:
    """A document as a file."""
    return json.dumps(document, indent=2).encode()


def canonical(document: Any) -> str:
    """The same text for the same content, however it was written."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def sealed(attributes: Mapping[str, Any], listed: Any = None) -> bytes:
    """The root's document with a checksum of its attributes.

    `listed` is what other readers find there of the arrays below, and is not read here.
    """
    plain = json.loads(json.dumps(attributes))  # as it will be read
    plain.pop(_CHECKSUM, None)
    told = plain
    if plain.get("format") != MARKS_NOTHING:
        told = {k: v if k in _SIMPLE else json.dumps(v) for k, v in plain.items()}
    document = {"attributes": {**told, _CHECKSUM: _checksum(plain)}, **_HEAD}
    if listed is not None:
        document["consolidated_metadata"] = listed
    return written(document)


def attributes_of(document: Any) -> dict[str, Any]:
    """The attributes in a root's document, as tables.

    Raises:
        ValueError: for a text that is no JSON.
    """
    found = document.get("attributes") if isinstance(document, dict) else None
    found = found if isinstance(found, dict) else {}
    if found.get("format") not in (FORMAT, MARKS_A_PLACE):
        return dict(found)
    is_text = lambda k, v: k not in (*_SIMPLE, _CHECKSUM) and isinstance(v, str)
    return {k: parsed(v.encode()) if is_text(k, v) else v for k, v in found.items()}


def read_document(place: AbstractPlace) -> Any:
    """The root's document, of which nothing is known.

    Raises:
        ValueError: if there is none.
    """
    where = place / ROOT
    try:
        return parsed(where.read(MOST_BYTES))
    except Unreachable:
        raise
    except OSError as error:
        raise BadInput(
            f"`{place}` is not a simbias run: {error.strerror or error}."
        ) from error
    except ValueError as error:
        raise BadInput(_damaged(where, str(error))) from error


def read_root(place: AbstractPlace) -> dict[str, Any]:
    """The attributes of a run.

    Raises:
        ValueError: if there is no run, or one of another layout, or a damaged root.
    """
    document, where = read_document(place), place / ROOT
    try:
        attributes = attributes_of(document)
    except ValueError as error:
        raise BadInput(_damaged(where, str(error))) from error
    stored = attributes.pop("format", None)
    if stored not in (FORMAT, MARKS_A_PLACE, MARKS_NOTHING):
        raise BadInput(
            f"`{place}` is not a simbias run of this version: expected format "
            f"{FORMAT!r}, got {stored!r:.200} in {where}. Choose another folder."
        )
    # What other readers find there, or zarr has added, is not read and does no harm.
    head = {k: v for k, v in document.items() if k != "consolidated_metadata"}
    head.pop("attributes")
    checksum = attributes.pop(_CHECKSUM, None)
    attributes = {"format": stored, **attributes}
    if canonical(head) != canonical(_HEAD) or checksum != _checksum(attributes):
        raise BadInput(_damaged(where, "its checksum does not match"))
    if fault := fault_of(attributes):
        raise BadInput(_damaged(where, fault))
    return attributes


def _checksum(attributes: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(attributes).encode()).hexdigest()


def _damaged(where: AbstractPlace, fault: str) -> str:
    return (
        f"{where} is damaged: {fault}. Restore it from a copy of the run, or choose "
        "another folder."
    )
