"""What was computed from a run afterwards, beside its arrays: one file for each name.

A file begins with the SHA-256 of the rest, which names the run that it was computed
from, the axes and their coordinates; then come the numbers.  One that is torn, flipped
or of another run is reported and left out.
"""

import dataclasses
import hashlib
import io
import json
import warnings
from typing import Any

import numpy as np

from simbias.errors import BadInput
from simbias.numerics.packed_arrays import array_of
from simbias.store._faults import is_place
from simbias.store._root import parsed
from simbias.store.layout import Store
from simbias.store.place import AbstractPlace, Unreachable

_FOLDER = "evaluations"
# Bytes of a file, which is read at once.
_MOST_BYTES = 2**28


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """An array over axes of the run, of which `coords` says where its values are.

    `cell` holds what was the same for all members, of which a run that grows may make
    axes.
    """

    dims: tuple[str, ...]
    coords: dict[str, list[Any]]
    values: np.ndarray
    cell: dict[str, Any]


def save_evaluation(store: Store, name: str, found: Evaluation) -> None:
    """Write an evaluation, in place of one of the same name.

    Raises:
        ValueError: if it has more than 128 MiB.
        OSError: if it cannot be written, or the run is not there any more.
    """
    if found.values.nbytes > _MOST_BYTES // 2:
        raise BadInput(
            f"{name!r} has {found.values.nbytes / 2**20:.0f} MiB, but at most 128 can "
            "be saved with a run. Use the returned value, or save a statistic."
        )
    store.check()
    run = store.attributes["run"]
    head = {"run": run, "name": name, "dims": found.dims, "coords": found.coords}
    head["cell"] = found.cell
    buffer = io.BytesIO()
    buffer.write(json.dumps(head).encode() + b"\n")
    np.save(buffer, found.values, allow_pickle=False)
    body = buffer.getvalue()
    digest = hashlib.sha256(body).hexdigest().encode()
    (store.place / _FOLDER / name).write(digest + b"\n" + body)


def read_evaluations(store: Store) -> dict[str, Evaluation]:
    """Every evaluation of a run by its name; those that are damaged are warned of."""
    found = {}
    for name in sorted((store.place / _FOLDER).files()):
        place = store.place / _FOLDER / name
        try:
            found[name] = _read(place, store.attributes["run"], name)
        except Unreachable:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            warnings.warn(f"{place} is ignored: {error}.", stacklevel=2)
    return found


def _read(place: AbstractPlace, run: str, name: str) -> Evaluation:
    digest, _, body = place.read(_MOST_BYTES).partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise BadInput("its checksum does not match")
    line, _, rest = body.partition(b"\n")
    head = parsed(line)
    if not isinstance(head, dict) or (head["run"], head["name"]) != (run, name):
        raise BadInput("it belongs to another run")
    values = array_of(rest)
    dims, coords, cell = tuple(head["dims"]), head["coords"], dict(head.get("cell", {}))
    sizes = dict(zip(dims, values.shape, strict=True))
    is_named = name.isidentifier() and all(isinstance(dim, str) for dim in dims)
    if not is_named or len(sizes) < len(dims) or values.dtype.kind != "f":
        raise BadInput("its array does not match its axes")
    for dim, places in coords.items():
        is_list = isinstance(places, list) and all(map(is_place, places))
        if not is_list or len(places) != sizes[dim] or len(set(places)) < len(places):
            raise BadInput("its coordinates do not match its axes")
    return Evaluation(dims, coords, values, cell)
