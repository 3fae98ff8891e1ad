"""What is wrong with the attributes of a root, before anything is made of them.

A checksum is no secret: who writes one may claim any size, count or shape.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from simbias.store._columns import STATUS
from simbias.store.extents import (
    blocks_of,
    extent,
    holds,
    is_distinct,
    is_same,
    members_of,
)
from simbias.store.source import source_fault, text_fault

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
# Members of a run, with which `status` takes 250 MB, and of all of its extents.
MOST_MEMBERS, _MOST_OF_ALL = 2**23, 2**26
_LARGEST_BLOCK = 2**16
# Axes of an array, and files that a row of it is cut into when a run grows.
_MOST_DIMS, _MOST_PIECES = 32, 2**14
# Of a size, a time or a place of a coordinate.
_LARGEST = 2.0**1000
_RECIPE = {"experiment": str, "preset": str, "overrides": list}
_STEP = re.compile(r"(?!\.\.?$)[^/\\\0]+", re.DOTALL)
_COLUMN = re.compile(
    rf"(members|trajectories|final|networks)/{_STEP.pattern}", re.DOTALL
)
_DTYPES = ("float32", "float64", "int32", "int64")


def fault_of(attributes: Mapping[str, Any]) -> str | None:
    """What is wrong with the attributes of a root, None if nothing is."""
    if wrong := _wrong(attributes, _ATTRIBUTES):
        return wrong
    if wrong := _wrong(attributes["configuration"], _CONFIGURATION):
        return f"configuration.{wrong}"
    if attributes["block"] < 1 or not attributes["extents"]:
        return "block or extents is empty"
    if attributes["block"] > _LARGEST_BLOCK:
        return f"block is {attributes['block']}, more than {_LARGEST_BLOCK}"
    columns = attributes["columns"]
    if wrong := _wrong_column(columns):
        return wrong
    for one in attributes["extents"]:
        if not isinstance(one, Mapping) or _wrong_extent(one, columns):
            return f"extents holds {one!r:.200}"
    if columns.get(STATUS) != {"dtype": "int32", "dims": []}:
        return f"columns holds {STATUS}: {columns.get(STATUS)!r:.200}"
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
        return f" is {recipe!r:.200}"
    if wrong := _wrong(recipe, _RECIPE):
        return f".{wrong}"
    if not all(isinstance(step, Mapping) for step in recipe["overrides"]):
        return f".overrides is {recipe['overrides']!r:.200}"
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
    counts = [members_of(one) for one in extents]
    for count, most in ((max(counts), MOST_MEMBERS), (sum(counts), _MOST_OF_ALL)):
        if count > most:
            return f"extents holds {count} members, more than {most}"
    for one, count in zip(extents, counts, strict=True):
        if count > one["blocks"] * attributes["block"]:
            return f"extents holds {count} members in {one['blocks']} blocks"
    before = zip(extents, extents[1:], strict=False)
    if not all(holds(larger, smaller) for smaller, larger in before):
        return "an extent does not contain the one before"
    if not is_same(extents[-1], extent(stored)):
        return "its extents do not match its configuration"
    blocks = [one["blocks"] for one in extents]
    if blocks != blocks_of(counts, attributes["block"]):
        return f"extents holds {counts} members in {blocks} blocks"
    if attributes["axes"] != {
        key: values for key, values in stored["cell"].items() if type(values) is list
    }:
        return f"axes is {attributes['axes']!r:.200}"
    for key in ("times", "keep"):
        if not all(map(_is_number, stored[key])):
            return f"configuration.{key} is {stored[key]!r:.200}"
    lengths = {"time": len(stored["times"]), "kept": len(stored["keep"])}
    for dim, values in attributes["coords"].items():
        if not _is_step(dim):
            return f"coords holds {dim!r:.200}"
        if not isinstance(values, list) or not all(map(is_place, values)):
            return f"coords holds {dim!r}: {values!r:.200}"
        lengths[dim] = len(values)
    for name, column in attributes["columns"].items():
        if len(attributes["axes"]) + len(column["dims"]) >= _MOST_DIMS:
            return f"{name} has more than {_MOST_DIMS} axes"
        shape, first = (extents[i]["shapes"][name] for i in (-1, 0))
        pieces = (-(-n // max(1, c)) for n, c in zip(shape, first, strict=True))
        if math.prod(pieces) > _MOST_PIECES:
            return f"{name} is cut into more than {_MOST_PIECES} files"
        for dim, size in zip(column["dims"], shape, strict=True):
            if lengths.get(dim, size) != size:
                return f"{name} has {size} values along {dim}, expected {lengths[dim]}"
    return None


def is_place(value: Any) -> bool:
    """Whether it may be a value of a coordinate, which may be infinite or missing."""
    return isinstance(value, (str, bool, float)) or _is_number(value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _LARGEST


def _is_step(name: Any) -> bool:
    """Whether a file or an axis may be called so, and nothing is outside."""
    return isinstance(name, str) and bool(_STEP.fullmatch(name))


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
            and all(map(_is_step, column["dims"]))
            and len({*column["dims"]}) == len(column["dims"])
        )
        if not is_right:
            return f"columns holds {name!r:.200}: {column!r:.200}"
    return None


def _wrong_extent(extent: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    if _wrong(extent, _EXTENT) or extent["seeds"] < 1 or extent["blocks"] < 1:
        return True
    values = extent["cell"].values()
    if not all(map(_is_step, extent["cell"])):
        return True
    if not all(isinstance(v, list) and v and is_distinct(v) for v in values):
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
        if not isinstance(table[name], kind) or type(table[name]) is bool:
            return f"{name} is {table[name]!r:.200}"
    return None
