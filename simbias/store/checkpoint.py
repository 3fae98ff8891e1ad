"""One file per block that is not finished: its members that are, and lanes in flight.

The file appears all at once (in a folder: written aside, synced, renamed, folder
synced) and begins with the SHA-256 of the rest, which names the run it belongs to.  A
file that is torn, flipped, empty or of another run is reported and not read: the block
then starts again.  It holds arrays of numbers, and nothing in it is executed.
"""

import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from simbias.ensemble.events import Leaves
from simbias.ensemble.table import Table
from simbias.errors import BadInput
from simbias.numerics.packed_arrays import arrays_of
from simbias.store._disk import sync
from simbias.store._mark import deciding
from simbias.store.address import place_at
from simbias.store.extents import extent_of
from simbias.store.place import AbstractPlace, naming
from simbias.store.room import most_of_a_state

FORMAT = "simbias-state-1"


@dataclasses.dataclass(frozen=True)
class State:
    """Rows are those of the block, from 0; `columns` hold the rows in `done`."""

    done: np.ndarray
    columns: dict[str, np.ndarray]
    lanes: dict[int, Leaves]


def run_hash(attributes: Mapping[str, Any], block: int) -> str:
    """Hash of the run, and of what decides the bits of a block of it."""
    what = [attributes["run"], *deciding(attributes, extent_of(attributes, block))]
    text = json.dumps(what, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def save_state(
    place: os.PathLike | AbstractPlace,
    run: str,
    table: Table,
    done: np.ndarray,
    lanes: Mapping[int, Leaves],
) -> None:
    """Write the state of a block; `done` and the keys of `lanes` are rows of it."""
    place = place_at(place)
    arrays = {"done": done}
    for group, columns in table.groups().items():
        for name, column in columns.items():
            arrays[f"{group}/{name}"] = column.values[done]
    for i, rows in enumerate(_alike(lanes)):
        arrays[f"lanes/{i}"] = np.asarray(rows)
        for k, leaves in enumerate(zip(*(lanes[r] for r in rows), strict=True)):
            arrays[f"lanes/{i}/{k}"] = np.stack(leaves)
    buffer = io.BytesIO()
    buffer.write(_header(run, place.name))
    np.savez(buffer, allow_pickle=False, **arrays)  # pyright: ignore
    body = buffer.getvalue()
    with naming(place):
        place.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        for path in place.unsynced():
            sync(path)


def load_state(
    place: os.PathLike | AbstractPlace, run: str, rows: int | None = None
) -> State:
    """The state of a block.

    Args:
        place: of the file.
        run: hash of the run and of what decides the bits of the block.
        rows: of the block, among which those of the state must be.

    Raises:
        ValueError: if the file is damaged, or belongs to another run or block.
        FileNotFoundError: if there is none.
    """
    place = place_at(place)
    digest, _, body = place.read(most_of_a_state()).partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise BadInput(f"{place} is damaged: its checksum does not match")
    header = _header(run, place.name)
    if not body.startswith(header):
        raise BadInput(f"{place} belongs to another run or to other versions")
    packed = body[len(header) :]
    try:
        return _state(arrays_of(packed, len(packed)), rows)
    except Exception as error:  # of any kind: anybody can make a checksum
        raise BadInput(f"{place} is damaged: {error!r}") from error


def _state(arrays: dict[str, np.ndarray], count: int | None) -> State:
    done = arrays["done"]
    _check_rows(done, count)
    lanes: dict[int, Leaves] = {}
    i = 0
    while f"lanes/{i}" in arrays:
        rows = arrays[f"lanes/{i}"]
        _check_rows(rows, count)
        keys = sum(key.startswith(f"lanes/{i}/") for key in arrays)
        leaves = [arrays[f"lanes/{i}/{k}"] for k in range(keys)]
        lanes |= {
            int(r): [np.asarray(v[at]) for v in leaves] for at, r in enumerate(rows)
        }
        i += 1
    columns = {
        k: v for k, v in arrays.items() if k != "done" and not k.startswith("lanes/")
    }
    if any(v.ndim == 0 or len(v) != len(done) for v in columns.values()):
        raise BadInput("its columns do not have the rows that are done")
    return State(done, columns, lanes)


def _check_rows(rows: np.ndarray, count: int | None) -> None:
    """Refuse what are no rows of a block of so many."""
    is_one = rows.ndim == 1 and (rows.dtype.kind == "i" or not rows.size)
    if not is_one or len(np.unique(rows)) < len(rows):
        raise BadInput("its rows are not distinct integers")
    if rows.size and (rows.min() < 0 or count is not None and rows.max() >= count):
        raise BadInput(f"it has rows outside a block of {count}")


def _header(run: str, block: str) -> bytes:
    header = {"format": FORMAT, "run": run, "block": block}
    return json.dumps(header).encode() + b"\n"


def _alike(lanes: Mapping[int, Leaves]) -> list[list[int]]:
    """Rows whose lanes have the same shapes, which are stacked to be fewer arrays."""
    alike: dict[Any, list[int]] = {}
    for row, leaves in lanes.items():
        shapes = tuple((v.shape, str(v.dtype)) for v in leaves)
        alike.setdefault(shapes, []).append(row)
    return list(alike.values())
