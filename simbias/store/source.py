"""The code of yours that a run was begun with, compared with that of here.

A run keeps the text of a file of yours, and the source of the functions that decide its
bits, wherever they come from.  Both are compared and not executed.
"""

import difflib
import hashlib
import warnings
from collections.abc import Mapping
from typing import Any

from simbias.errors import BadInput
from simbias.introspection.source_text import is_same_text

MOST_BYTES = 1 << 20
_KEYS = {"name", "text", "sha256"}
_LONGEST, _LINES, _COLUMNS = 200, 40, 120
_PARTS = {"functions": dict, "values": dict, "assigned": dict, "not_covered": list}


def kept(name: str, text: str) -> dict[str, str]:
    """What a recipe holds of a file."""
    return {"name": name, "text": text, "sha256": _hash(text)}


def text_fault(file: Any) -> str | None:
    """What is wrong with the file of a recipe, None if nothing is."""
    if not isinstance(file, Mapping) or {*file} != _KEYS:
        return f"is {file!r:.200}"
    if not all(isinstance(value, str) for value in file.values()):
        return f"is {file!r:.200}"
    name, text = file["name"], file["text"]
    is_name = name.isprintable() and name.endswith(".py") and not {*"/\\"} & {*name}
    if not is_name or len(name) > _LONGEST:
        return f"has the name {name!r:.200}"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "has a text that is not valid Unicode"
    if size > MOST_BYTES:
        return f"has a text of {size} bytes, more than {MOST_BYTES}"
    return None if file["sha256"] == _hash(text) else "has a text with another checksum"


def is_same_file(
    stored: Mapping[str, Any] | None, given: Mapping[str, Any] | None
) -> bool:
    """False if two recipes are of files with different texts."""
    theirs, ours = ((one or {}).get("file") for one in (stored, given))
    return theirs is None or ours is None or theirs["text"] == ours["text"]


def check_text(
    stored: Mapping[str, Any] | None, given: Mapping[str, Any] | None
) -> None:
    """Refuse a file whose text is not the one that a run was begun with.

    Raises:
        ValueError: with the difference.
    """
    if stored is None or given is None or is_same_file(stored, given):
        return
    raise BadInput(
        f"{given['file']['name']} has changed since this run was started; nothing was "
        "written. Choose another folder, or restore the file, or continue with the "
        "copy in the run (`simbias resume RUN --trust-code`). For a finished run, "
        "`simbias figure RUN FILE` and `simbias resume RUN FILE` use the changed file. "
        "Differences (the run's -> yours):\n"
        + difference(stored["file"]["text"], given["file"]["text"])
    )


def check_source(
    stored: Mapping[str, Any], attributes: Mapping[str, Any], *, is_whole: bool
) -> None:
    """Refuse to go on with a run by other code.

    Of a whole run the text of the file may differ, which then draws and checks it.

    Raises:
        ValueError: with the differences.
    """
    ours, theirs = attributes.get("source"), stored.get("source")
    if not is_whole:
        check_text(stored["recipe"], attributes.get("recipe"))
    if changed := source_differences(ours, theirs):
        raise BadInput(
            "the folder has a run that was computed by other code; nothing was "
            "written. The run would mix networks from two versions of your code. "
            "Restore the code, or choose another folder. Differences (stored -> "
            "here):\n  " + "\n  ".join(changed)
        )
    if not is_whole and theirs is None and ours is not None:
        warnings.warn(
            "this run was started by an earlier simbias, which did not store the "
            "source of `make`, the loss, the flow and the measures. If this code has "
            "changed since, the new networks do not belong to the same experiment. If "
            "you are not sure, choose another folder.",
            stacklevel=2,
        )


def difference(theirs: str, ours: str) -> str:
    """Two texts, line by line where they differ, and no more than fits a screen."""
    lines = [
        "  " + "".join(c if c.isprintable() else " " for c in line)[:_COLUMNS]
        for line in difflib.unified_diff(
            theirs.splitlines(), ours.splitlines(), lineterm="", n=1
        )
    ][2:]
    if not lines:
        return "  (only the ends of lines differ)"
    more = len(lines) - _LINES
    return "\n".join(lines[:_LINES] + ([f"  … {more} lines more"] if more > 0 else []))


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
            out += _changed_lines(name, new["text"], old["text"])
        elif new["code"] != old["code"]:
            out.append(f"{_shown(name)}: {_shown(old['code'])} -> {new['code']}")
    for name, (new, old) in _pairs(ours["values"], theirs["values"]):
        if new is None or old is None:
            out.append(f"{_shown(name)} {_reached(new)}")
        elif new != old:
            out.append(f"{_shown(name)}: {_shown(old)} -> {_shown(new)}")
    for name, (new, old) in _pairs(ours["assigned"], theirs["assigned"]):
        # A module that is not read from a file has none.
        if new and old:
            out += _changed_lines(name, new, old)
    return out


def _changed_lines(name: str, new: str, old: str) -> list[str]:
    """One entry if two texts differ in more than layout, none else."""
    if is_same_text(new, old):
        return []
    return [f"{_shown(name)}:\n{difference(old, new)}"]


def _pairs(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[tuple]:
    """Entries that are not equal, of both."""
    names = [*theirs, *(name for name in ours if name not in theirs)]
    pairs = [(name, (ours.get(name), theirs.get(name))) for name in names]
    return [(name, (new, old)) for name, (new, old) in pairs if new != old]


def _reached(new: Any) -> str:
    return "is no longer used" if new is None else "is used now, but was not then"


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
