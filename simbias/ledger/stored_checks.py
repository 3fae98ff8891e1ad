"""Checks that have been stored, by experiment and preset."""

import json
import pathlib
from typing import Any

from simbias.errors import BadInput
from simbias.numerics.regular_file import read_regular

# Experiment and preset -> claims and numbers.
StoredChecks = dict[tuple[str, str], dict[str, Any]]
_MOST_BYTES = 1 << 27
# Words of earlier versions.
_RENAMED = dict(holds="supported", fails="contradicted", undecided="inconclusive")
# Beside the package in a clone, a folder per preset; what is installed has none.
RESULTS = pathlib.Path(__file__).parents[2] / "benchmarks" / "results"


def stored_checks(place: pathlib.Path | None = None) -> StoredChecks:
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
        found = json.loads(read_regular(file, _MOST_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        found = None
    found = [found] if isinstance(found, dict) else found
    if not isinstance(found, list) or not all(map(_is_check, found)):
        raise BadInput(
            f"{file} is no check. It must be a file that `simbias check --json FILE` "
            "has written, or the claims.json of a run."
        )
    for claim in (claim for one in found for claim in one["claims"]):
        claim["verdict"] = _RENAMED.get(claim["verdict"], claim["verdict"])
    return found


def _is_check(one: Any) -> bool:
    """Whether it is what is read here: an experiment, a preset, and claims."""
    is_told = isinstance(one, dict) and all(
        isinstance(one.get(key, ""), str) for key in ("experiment", "preset", "command")
    )
    needs = {"experiment", "preset", "claims"}
    if not (is_told and needs <= {*one} and isinstance(one["claims"], list)):
        return False
    return all(isinstance(claim, dict) and _is_claim(claim) for claim in one["claims"])


def _is_claim(one: dict[str, Any]) -> bool:
    texts = all(isinstance(one.get(key), str) for key in ("statement", "verdict"))
    numbers = (one.get(key, "") for key in ("value", "low", "high"))
    is_number = lambda value: value is None or type(value) in (int, float)
    return texts and "needs" in one and all(map(is_number, numbers))
