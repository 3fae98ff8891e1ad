"""The source that a run was begun with, compared with that of here."""

import warnings
from collections.abc import Mapping
from typing import Any

from simbias.introspection.source_text import is_same_text
from simbias.store.text import difference

_PARTS = {"functions": dict, "values": dict, "assigned": dict, "not_covered": list}
_LONGEST = 200


def source_fault(source: Any) -> str | None:
    """What is wrong with the source of a run, None if nothing is."""
    if not isinstance(source, Mapping) or source.keys() != _PARTS.keys():
        return f"is {source!r:.200}"
    for name, kind in _PARTS.items():
        if not isinstance(source[name], kind):
            return f"has {name} {source[name]!r:.200}"
    texts = [*source["values"].values(), *source["assigned"].values()]
    texts += source["not_covered"]
    for one in source["functions"].values():
        if not isinstance(one, Mapping) or one.keys() != {"text", "code"}:
            return f"has the function {one!r:.200}"
        texts += [one["code"], one["text"] or ""]
    wrong = [text for text in texts if not isinstance(text, str)]
    return f"holds {wrong[0]!r:.200}" if wrong else None


def source_differences(
    ours: Mapping[str, Any] | None,
    theirs: Mapping[str, Any] | None,
    *,
    is_part: bool = False,
) -> list[str]:
    """One entry per function and value that differ, functions with their lines.

    Nothing if one of them is not known: the run was begun by an earlier simbias.  If
    ours `is_part`, what only they have is no difference.
    """
    if ours is None or theirs is None:
        return []
    if is_part:
        theirs = {
            part: {k: v for k, v in theirs[part].items() if k in ours[part]}
            for part in ("functions", "values", "assigned")
        }
    out = []
    for name, (new, old) in _pairs(ours["functions"], theirs["functions"]):
        if new is None or old is None:
            out.append(f"{_shown(name)} {_reached(new)}")
        elif new["text"] and old["text"]:
            if not is_same_text(new["text"], old["text"]):
                lines = difference(old["text"], new["text"])
                out.append(f"{_shown(name)}:\n{lines}")
        elif new["code"] != old["code"]:
            out.append(f"{_shown(name)}: {_shown(old['code'])} -> {new['code']}")
    for name, (new, old) in _pairs(ours["values"], theirs["values"]):
        if new is None or old is None:
            out.append(f"{_shown(name)} {_reached(new)}")
        elif new != old:
            out.append(f"{_shown(name)}: {_shown(old)} -> {_shown(new)}")
    for name, (new, old) in _pairs(ours["assigned"], theirs["assigned"]):
        # A module that is not read from a file has none.
        if new and old and not is_same_text(new, old):
            out.append(f"{_shown(name)}:\n{difference(old, new)}")
    return out


def warn_of_unknown_source(attributes: Mapping[str, Any]) -> None:
    """Say of a run that is gone on with that its source is not known."""
    if attributes.get("source") is None:
        return
    warnings.warn(
        "this run was started by an earlier simbias, which did not store the source of "
        "`make`, the loss, the flow and the measures. If this code has changed since, "
        "the new networks do not belong to the same experiment. If you are not sure, "
        "choose another folder.",
        stacklevel=2,
    )


def _pairs(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[tuple]:
    """Entries that are not equal, of both."""
    names = [*theirs, *(name for name in ours if name not in theirs)]
    pairs = [(name, (ours.get(name), theirs.get(name))) for name in names]
    return [(name, (new, old)) for name, (new, old) in pairs if new != old]


def _reached(new: Any) -> str:
    return "is no longer used" if new is None else "is used now, but was not then"


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST]
