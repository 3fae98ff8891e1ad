"""Whether a store and what is asked of it go together."""

from collections.abc import Mapping
from typing import Any

from simbias.ensemble.configuration import (
    differences,
    with_current_names,
    without_digests,
)
from simbias.errors import BadInput
from simbias.store.extents import extent, holds, is_same
from simbias.store.layout import Store
from simbias.store.source import source_differences, warn_of_unknown_source
from simbias.store.text import check_text

# The grid may grow; everything else decides the bits.
_GROWS = ("cell", "seeds")


def check_compatible(store: Store, attributes: Mapping[str, Any]) -> bool:
    """True if the store must grow first.

    Raises:
        ValueError: with one line per difference, if the configuration differs in more
            than a larger grid, or the source of what it names; or if something is left
            to compute and the versions, the kind of device or the text of a file of
            yours are others.
    """
    stored = store.attributes
    theirs, ours = stored["configuration"], attributes["configuration"]
    ours_text, theirs_text = attributes.get("source"), stored.get("source")
    changed = source_differences(ours_text, theirs_text)
    fixed = _fixed(ours), _fixed(theirs)
    if ours_text and theirs_text:
        # Digests of code are of a version of Python, and hold docstrings.
        fixed = without_digests(fixed[0]), without_digests(fixed[1])
    lines = differences(fixed[0], fixed[1])
    new = extent(ours)
    old = extent(theirs)
    if not holds(new, old):
        lines += differences(new["cell"], old["cell"], "cell")
        lines += differences(new["seeds"], old["seeds"], "seeds")
    if lines:
        raise BadInput(
            "the folder has a run of another configuration; nothing was written. A run "
            "may grow (more seeds, more values in `cell`), but not shrink or change. "
            "Choose another folder, or delete that one. Differences (stored -> asked "
            "for):\n  " + "\n  ".join([*lines, *changed])
        )
    grows = not is_same(new, old)
    blocks = stored["extents"][-1]["blocks"]
    is_whole = not grows and len(store.committed()) == blocks
    if not is_whole:
        check_text(stored["recipe"], attributes.get("recipe"))
    if changed:
        raise BadInput(
            "the folder has a run that was computed by other code; nothing was "
            "written. The run would mix networks from two versions of your code. "
            "Restore the code, or choose another folder. Differences (stored -> "
            "here):\n  " + "\n  ".join(changed)
        )
    if is_whole:
        return False
    if theirs_text is None:
        warn_of_unknown_source(attributes)
    lines = differences(_bits(attributes), _bits(stored))
    if _package(attributes):  # a script of yours does not say
        lines += differences(_package(attributes), _package(stored), "package")
    if lines:
        raise BadInput(
            "the folder has a run that was computed by other versions or on another "
            "kind of device, so that the last bits may differ; nothing was written. "
            "Continue with those versions and devices, or choose another folder. "
            "Differences (stored -> here):\n  " + "\n  ".join(lines)
        )
    return grows


def _fixed(configuration: Mapping[str, Any]) -> dict[str, Any]:
    named = with_current_names(configuration)
    return {k: v for k, v in named.items() if k not in _GROWS}


def _bits(attributes: Mapping[str, Any]) -> dict[str, Any]:
    versions = {k: v for k, v in attributes["versions"].items() if k != "python"}
    return {**versions, "device": attributes["device"]}


def _package(attributes: Mapping[str, Any]) -> str | None:
    """The package that brings the experiment, and its version."""
    return (attributes.get("recipe") or {}).get("package")
