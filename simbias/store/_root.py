"""The root's document: it decides everything else, and carries its own checksum.

Nothing here believes what is read: a folder may come from a stranger.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from simbias.errors import BadInput
from simbias.store.extents import extent, holds, is_same
from simbias.store.place import ROOT, AbstractPlace, Unreachable
from simbias.store.source import source_fault
from simbias.store.text import text_fault

FORMAT = "simbias-3"
_CHECKSUM = "sha256"
_HEAD = {"zarr_format": 3, "node_type": "group"}

_CONFIGURATION = {"name": str, "cell": dict, "seeds": int, "times": list, "keep": list}
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
# Whose places take 2 GB.
_MOST_MEMBERS = 2**28
_RECIPE = {"experiment": str, "preset": str, "overrides": list}
_COLUMN = re.compile(r"(members|trajectories|final|networks)/(?!\.\.?$)[^/\\\0]+")
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


def sealed(attributes: Mapping[str, Any], listed: Any = None) -> bytes:
    """The root's document with a checksum of its attributes.

    `listed` is what other readers find there of the arrays below, and is not read here.
    """
    plain = json.loads(json.dumps(attributes))  # as it will be read
    plain.pop(_CHECKSUM, None)
    document = {"attributes": {**plain, _CHECKSUM: _checksum(plain)}, **_HEAD}
    if listed is not None:
        document["consolidated_metadata"] = listed
    return written(document)


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
        raise BadInput(
            f"`{place}` is not a simbias run: {error.strerror or error}."
        ) from error
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
    # What other readers find there, or zarr has added, is not read and does no harm.
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
    for one in attributes["extents"]:
        if not isinstance(one, Mapping) or _wrong_extent(one, columns):
            return f"extents holds {one!r}"
    if wrong := _inconsistent(attributes):
        return wrong
    if not _is_described(attributes.get("described", {})):
        return f"described is {attributes['described']!r:.200}"
    if "source" in attributes and (wrong := source_fault(attributes["source"])):
        return f"source {wrong}"
    if "recipe" not in attributes:
        return "recipe is missing"
    recipe = attributes["recipe"]
    wrong = None if recipe is None else _wrong_recipe(recipe)
    return wrong and f"recipe{wrong}"


def _wrong_recipe(recipe: Any) -> str | None:
    if not isinstance(recipe, Mapping):
        return f" is {recipe!r}"
    if wrong := _wrong(recipe, _RECIPE):
        return f".{wrong}"
    if not all(isinstance(step, Mapping) for step in recipe["overrides"]):
        return f".overrides is {recipe['overrides']!r}"
    # A name is shown to a person.
    for key in ("experiment", "package"):
        name = recipe.get(key, "")
        if not (isinstance(name, str) and name.isprintable()):
            return f".{key} is {name!r:.200}"
    fault = text_fault(recipe["file"]) if "file" in recipe else None
    return fault and f".file {fault}"


def _inconsistent(attributes: Mapping[str, Any]) -> str | None:
    """Where the grid, the extents and the coordinates do not fit each other."""
    stored, extents = attributes["configuration"], attributes["extents"]
    for one in extents:
        count = math.prod([*map(len, one["cell"].values()), one["seeds"]])
        if count > _MOST_MEMBERS:
            return f"extents holds {count} members, more than {_MOST_MEMBERS}"
        if count > one["blocks"] * attributes["block"]:
            return f"extents holds {count} members in {one['blocks']} blocks"
    before = zip(extents, extents[1:], strict=False)
    if not all(holds(larger, smaller) for smaller, larger in before):
        return "an extent does not hold the one before"
    if not is_same(extents[-1], extent(stored)):
        return "its extents are not those of its configuration"
    if attributes["axes"] != {
        key: values for key, values in stored["cell"].items() if type(values) is list
    }:
        return f"axes is {attributes['axes']!r}"
    lengths = {"time": len(stored["times"]), "kept": len(stored["keep"])}
    for dim, values in attributes["coords"].items():
        if not isinstance(values, list):
            return f"coords holds {dim!r}: {values!r}"
        lengths[dim] = len(values)
    for name, column in attributes["columns"].items():
        shape = extents[-1]["shapes"][name]
        for dim, size in zip(column["dims"], shape, strict=True):
            if lengths.get(dim, size) != size:
                return f"{name} has {size} values along {dim}, expected {lengths[dim]}"
    return None


def _is_described(said: Any) -> bool:
    """Whether it is a table of tables of texts, which may be shown."""
    is_table = lambda value: isinstance(value, Mapping)
    return is_table(said) and all(
        is_table(words) and all(isinstance(text, str) for text in words.values())
        for words in said.values()
    )


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
