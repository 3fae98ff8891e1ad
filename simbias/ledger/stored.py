"""Checks that have been stored, by experiment and preset."""

import json
import pathlib
from typing import Any

from simbias.errors import BadInput

# Experiment and preset -> claims and numbers.
Stored = dict[tuple[str, str], dict[str, Any]]
# Beside the package in a clone, a folder per preset; what is installed has none.
RESULTS = pathlib.Path(__file__).parents[2] / "benchmarks" / "results"


def stored(place: pathlib.Path | None = None) -> Stored:
    """What `simbias check` has written, by experiment and preset.

    Args:
        place: a file of `simbias check --json`, the `claims.json` of a run, or a folder
            of such files; those of this repository if it is None, of all presets, and
            none where there is no repository.

    Raises:
        ValueError: for a place that has no check.
    """
    if place is None:
        files = sorted(RESULTS.glob("check_*/*.json"))
    else:
        files = sorted(place.glob("*.json")) if place.is_dir() else [place]
    found = [one for file in files for one in _documents(file)]
    if not found and place is not None:
        raise BadInput(f"{place} has no check. Example: simbias check --json FILE.")
    return {(one["experiment"], one["preset"]): one for one in found}


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
