"""Checks that have been stored, by experiment."""

import json
import pathlib
from typing import Any

from simbias.errors import BadInput

# Beside the package in a clone; what is installed has none.
STORED = pathlib.Path(__file__).parents[2] / "benchmarks" / "results" / "check_quick"


def stored(place: pathlib.Path | None = None) -> dict[str, dict[str, Any]]:
    """What `simbias check` has written, experiment -> its claims and numbers.

    Args:
        place: a file of `simbias check --json`, the `claims.json` of a run, or a folder
            of such files; those of this repository if it is None, and none where there
            is no repository.

    Raises:
        ValueError: for a place that has no check.
    """
    files = [STORED if place is None else place]
    if files[0].is_dir():
        files = sorted(files[0].glob("*.json"))
    elif place is None:
        return {}
    found = [one for file in files for one in _documents(file)]
    if not found:
        raise BadInput(f"{place} has no check. Example: simbias check --json FILE.")
    return {one["experiment"]: one for one in found}


def _documents(file: pathlib.Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, FileNotFoundError):
        found = None
    found = [found] if isinstance(found, dict) else found
    needs = {"experiment", "preset", "claims"}
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and needs <= {*one} for one in found
    ):
        raise BadInput(
            f"{file} is no check. It must be a file that `simbias check --json FILE` "
            "has written, or the claims.json of a run."
        )
    return found
