"""The text of a file of yours: a run keeps it to compare, and does not execute it."""

import difflib
import hashlib
from collections.abc import Mapping
from typing import Any

from simbias.errors import BadInput

MOST_BYTES = 1 << 20
_KEYS = {"name", "text", "sha256"}
_LONGEST_NAME, _LINES, _COLUMNS = 200, 40, 120


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
    if not is_name or len(name) > _LONGEST_NAME:
        return f"has the name {name!r:.200}"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "has a text that is not valid Unicode"
    if size > MOST_BYTES:
        return f"has a text of {size} bytes, more than {MOST_BYTES}"
    return None if file["sha256"] == _hash(text) else "has a text with another checksum"


def is_same_text(
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
    if stored is None or given is None or is_same_text(stored, given):
        return
    raise BadInput(
        f"{given['file']['name']} has changed since this run was started; nothing was "
        "written. Choose another folder, or restore the file, or continue with the "
        "copy in the run (`simbias resume RUN --trust-code`). For a finished run, "
        "`simbias figure RUN FILE` and `simbias resume RUN FILE` use the changed file. "
        "Differences (the run's -> yours):\n"
        + difference(stored["file"]["text"], given["file"]["text"])
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


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
