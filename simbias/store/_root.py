"""What the root of a run must say, looked at before anything believes it."""

from collections.abc import Mapping
from typing import Any

_CONFIGURATION = {"name": str, "cell": dict, "seeds": int, "times": list}
_EXTENT = {"cell": dict, "seeds": int, "blocks": int, "shapes": dict}
_ROOT = {
    "block": int,
    "extents": list,
    "configuration": dict,
    "axes": dict,
    "coords": dict,
    "versions": dict,
    "device": str,
}
_RECIPE = {"experiment": str, "preset": str, "overrides": list}


def fault_of(root: Mapping[str, Any]) -> str | None:
    """What is wrong with the attributes of a root, None if nothing is."""
    if wrong := _wrong(root, _ROOT):
        return wrong
    if wrong := _wrong(root["configuration"], _CONFIGURATION):
        return f"configuration.{wrong}"
    if root["block"] < 1 or not root["extents"]:
        return "block or extents is empty"
    for extent in root["extents"]:
        if not isinstance(extent, Mapping) or (wrong := _wrong(extent, _EXTENT)):
            return f"extents holds {extent!r}"
    recipe = root.get("recipe")
    if recipe is not None:
        if not isinstance(recipe, Mapping):
            return f"recipe is {recipe!r}"
        if wrong := _wrong(recipe, _RECIPE):
            return f"recipe.{wrong}"
    return None


def _wrong(table: Mapping[str, Any], kinds: Mapping[str, type]) -> str | None:
    for name, kind in kinds.items():
        if name not in table:
            return f"{name} is missing"
        if not isinstance(table[name], kind):
            return f"{name} is {table[name]!r}"
    return None
