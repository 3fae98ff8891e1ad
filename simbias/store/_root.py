"""The root's document: it decides everything else, and carries its own checksum.

Nothing here believes what is read: a folder may come from a stranger.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from simbias.errors import BadInput
from simbias.store.place import ROOT, AbstractPlace, Unreachable

FORMAT = "simbias-3"
_CHECKSUM = "sha256"
_HEAD = {"zarr_format": 3, "node_type": "group"}

_CONFIGURATION = {"name": str, "cell": dict, "seeds": int, "times": list}
_EXTENT = {"cell": dict, "seeds": int, "blocks": int, "shapes": dict}
_ATTRIBUTES = {
    "run": str,
    "block": int,
    "extents": list,
    "columns": dict,
    "configuration": dict,
    "axes": dict,
    "coords": dict,
    "versions": dict,
    "device": str,
}
_RECIPE = {"experiment": str, "preset": str, "overrides": list}
_COLUMN = re.compile(r"(members|trajectories|final)/(?!\.\.?$)[^/\\\0]+")
_DTYPES = ("float32", "float64", "int32", "int64")


def parsed(raw: bytes) -> Any:
    """What a document says.

    Raises:
        ValueError: if it is no JSON, or nested too deeply.
    """
    try:
        return json.loads(raw.decode())
    except RecursionError:
        raise BadInput("it is nested too deeply") from None


def written(document: Mapping[str, Any]) -> bytes:
    """A document as a file."""
    return json.dumps(document, indent=2).encode()


def canonical(document: Any) -> str:
    """The same text for the same content, however it was written."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def sealed(attributes: Mapping[str, Any]) -> bytes:
    """The root's document with a checksum of its attributes."""
    plain = json.loads(json.dumps(attributes))  # as it will be read
    plain.pop(_CHECKSUM, None)
    return written({"attributes": {**plain, _CHECKSUM: _checksum(plain)}, **_HEAD})


def read_root(place: AbstractPlace) -> dict[str, Any]:
    """The attributes of a run.

    Raises:
        ValueError: if there is no run, or one of another layout, or a damaged root.
    """
    where = place / ROOT
    try:
        document = parsed(where.read())
    except Unreachable:
        raise
    except OSError as error:
        raise BadInput(f"`{place}` is not a simbias run: {error}.") from error
    except ValueError as error:
        raise BadInput(_damaged(where, str(error))) from error
    attributes = document.get("attributes") if isinstance(document, dict) else None
    attributes = attributes if isinstance(attributes, dict) else {}
    stored = attributes.pop("format", None)
    if stored != FORMAT:
        raise BadInput(
            f"`{place}` is not a simbias run of this version: expected format "
            f"{FORMAT!r}, got {stored!r} in {where}. Choose another folder."
        )
    # What zarr adds on demand is not read, and does no harm.
    head = {k: v for k, v in document.items() if k != "consolidated_metadata"}
    head.pop("attributes")
    checksum = attributes.pop(_CHECKSUM, None)
    attributes = {"format": stored, **attributes}
    if canonical(head) != canonical(_HEAD) or checksum != _checksum(attributes):
        raise BadInput(_damaged(where, "its checksum does not match"))
    if fault := _fault(attributes):
        raise BadInput(_damaged(where, fault))
    return attributes


def _checksum(attributes: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(attributes).encode()).hexdigest()


def _damaged(where: AbstractPlace, fault: str) -> str:
    return (
        f"{where} is damaged: {fault}. Put it back from a copy of the run, or choose "
        "another folder."
    )


def _fault(attributes: Mapping[str, Any]) -> str | None:
    """What is wrong with the attributes of a root, None if nothing is."""
    if wrong := _wrong(attributes, _ATTRIBUTES):
        return wrong
    if wrong := _wrong(attributes["configuration"], _CONFIGURATION):
        return f"configuration.{wrong}"
    if attributes["block"] < 1 or not attributes["extents"]:
        return "block or extents is empty"
    columns = attributes["columns"]
    if wrong := _wrong_column(columns):
        return wrong
    for extent in attributes["extents"]:
        if not isinstance(extent, Mapping) or _wrong_extent(extent, columns):
            return f"extents holds {extent!r}"
    recipe = attributes.get("recipe")
    if recipe is not None:
        if not isinstance(recipe, Mapping):
            return f"recipe is {recipe!r}"
        if wrong := _wrong(recipe, _RECIPE):
            return f"recipe.{wrong}"
    return None


def _wrong_column(columns: Mapping[str, Any]) -> str | None:
    for name, column in columns.items():
        is_right = (
            _COLUMN.fullmatch(name)
            and isinstance(column, Mapping)
            and column.get("dtype") in _DTYPES
            and isinstance(column.get("dims"), list)
            and all(isinstance(dim, str) for dim in column["dims"])
        )
        if not is_right:
            return f"columns holds {name!r}: {column!r}"
    return None


def _wrong_extent(extent: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    if _wrong(extent, _EXTENT) or extent["seeds"] < 1 or extent["blocks"] < 1:
        return True
    if not all(isinstance(v, list) and v for v in extent["cell"].values()):
        return True
    shapes = extent["shapes"]
    return shapes.keys() != columns.keys() or any(
        not isinstance(shape, list)
        or len(shape) != len(columns[name]["dims"])
        or any(type(size) is not int or size < 0 for size in shape)
        for name, shape in shapes.items()
    )


def _wrong(table: Mapping[str, Any], kinds: Mapping[str, type]) -> str | None:
    for name, kind in kinds.items():
        if name not in table:
            return f"{name} is missing"
        if not isinstance(table[name], kind):
            return f"{name} is {table[name]!r}"
    return None
