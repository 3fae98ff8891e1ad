"""Whether a store and what is asked of it go together."""

import re
from collections.abc import Mapping
from typing import Any

from simbias.ensemble.configuration import with_current_names
from simbias.errors import BadInput
from simbias.store.extents import extent, holds
from simbias.store.layout import Store
from simbias.store.source import check_source, source_differences

# The grid may grow; everything else decides the bits.
_GROWS = ("cell", "seeds")
# As `introspection.identity.code_identity` writes it.
_DIGEST = re.compile(r"(?<=\S) [0-9a-f]{16}$")


def check_compatible(store: Store, attributes: Mapping[str, Any]) -> bool:
    """True if the store must grow first.

    Raises:
        ValueError: with one line per difference, if the configuration differs in more
            than a larger grid, or the source of what it names; or if something is left
            to compute and the versions, the kind of device or the text of a file of
            yours are others.
    """
    stored = store.attributes
    sources = attributes.get("source"), stored.get("source")
    both = attributes["configuration"], stored["configuration"]
    new, old = map(extent, both)
    is_held, grows = holds(new, old), not holds(old, new)
    ours, theirs = map(_fixed, both)
    if all(sources):
        # Digests of code are of a version of Python, and hold docstrings.
        ours, theirs = without_digests(ours), without_digests(theirs)
    lines = differences(ours, theirs)
    if not is_held:
        lines += differences(new["cell"], old["cell"], "cell")
        lines += differences(new["seeds"], old["seeds"], "seeds")
    if lines:
        lines += source_differences(*sources)
        raise BadInput(
            "the folder has a run of another configuration; nothing was written. A run "
            "may grow (more seeds, more values in `cell`), but not shrink or change. "
            "Choose another folder, or delete that one. Differences (stored -> asked "
            "for):\n  " + "\n  ".join(lines)
        )
    blocks = stored["extents"][-1]["blocks"]
    is_whole = not grows and len(store.committed()) == blocks
    check_source(stored, attributes, is_whole=is_whole)
    if is_whole:
        return False
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


def differences(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """One line per place where two configurations differ: 'KEY: theirs -> ours'.

    A file that has a checksum is told by it, wherever it lies.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if "sha256" in ours and "sha256" in theirs:
            ours, theirs = ({**one, "path": ""} for one in (ours, theirs))
        return [
            line
            for key in sorted({*ours, *theirs})
            for line in differences(
                ours.get(key, "(absent)"),
                theirs.get(key, "(absent)"),
                f"{path}.{key}" if path else key,
            )
        ]
    return [] if ours == theirs else [f"{path}: {theirs} -> {ours}"]


def without_digests(value: Any) -> Any:
    """A configuration with the names of functions, without digests of their code."""
    if isinstance(value, dict):
        return {key: without_digests(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_digests(inner) for inner in value]
    return _DIGEST.sub("", value) if isinstance(value, str) else value


def _fixed(configuration: Mapping[str, Any]) -> dict[str, Any]:
    named = with_current_names(configuration)
    return {k: v for k, v in named.items() if k not in _GROWS}


def _bits(attributes: Mapping[str, Any]) -> dict[str, Any]:
    versions = {k: v for k, v in attributes["versions"].items() if k != "python"}
    return {**versions, "device": attributes["device"]}


def _package(attributes: Mapping[str, Any]) -> str | None:
    """The package that brings the experiment, and its version."""
    return (attributes.get("recipe") or {}).get("package")
