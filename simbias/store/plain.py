"""A run as plain data: arrays over the grid, for who has xarray and no simbias.

`xr.open_zarr(run)` finds at the root what simbias gives: axes of the grid, seed and
time as coordinates, a unit and a long name everywhere.  The root lists these arrays
(consolidated metadata) from the start.  Axes are written at once, values when every
member is done, the status last; until then they read as missing, with status RUNNING.
simbias itself reads none of this.  What is lost of it is written again, with the same
bytes, by whoever next asks for the finished run.
"""

import dataclasses
import errno
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simbias.ensemble.described import FLAGS
from simbias.ensemble.table import GROUPS, Table
from simbias.store._chunks import encoded, encoded_text
from simbias.store._columns import STATUS, fill_value
from simbias.store._disk import sync
from simbias.store._documents import array_document, row_shape
from simbias.store._root import canonical, written
from simbias.store.layout import Store, open_store
from simbias.store.lease import alone
from simbias.store.place import ROOT

# A chunk has at most so many bytes.
_CHUNK_BYTES = 1 << 22
# What else lies at the root: an array of such a name gets an underscore.
_TAKEN = (*GROUPS, "work", "evaluations", ROOT)
_LONGEST = 200
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# Kinds of numbers that a coordinate may have -> what is stored.
_KINDS = {"b": "bool", "i": "int64", "f": "float64", "U": "string"}
_FILLS = {"bool": False, "int64": 0, "float64": float("nan"), "string": ""}


@dataclasses.dataclass(frozen=True)
class _Array:
    """One array at the root; `values` of a coordinate, else `column` of the store."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    fill: Any
    attributes: dict[str, Any]
    values: np.ndarray | None = None
    column: str | None = None

    @property
    def chunk(self) -> list[int]:
        """Shape of a chunk: the first axes are cut, the last ones whole."""
        chunk, size = [max(1, one) for one in self.shape], np.dtype("f8").itemsize
        for axis in range(len(chunk)):
            while chunk[axis] > 1 and math.prod(chunk) * size > _CHUNK_BYTES:
                chunk[axis] = math.ceil(chunk[axis] / 2)
        return chunk

    def chunks(self) -> Iterator[tuple[str, tuple[slice, ...]]]:
        """Files below the array, and what each one holds."""
        counts = [math.ceil(s / c) for s, c in zip(self.shape, self.chunk, strict=True)]
        for at in itertools.product(*map(range, counts)):
            part = (
                slice(i * c, i * c + c) for i, c in zip(at, self.chunk, strict=True)
            )
            yield "/".join(map(str, ("c", *at))), tuple(part)

    def encoded(self, values: np.ndarray) -> bytes:
        """What a file holds."""
        if self.dtype == "string":
            return encoded_text(values)
        return encoded(values, self.chunk, self.fill)

    def document(self) -> dict[str, Any]:
        """Its zarr document."""
        return array_document(
            self.shape, self.chunk, self.dtype, self.fill, self.dims, self.attributes
        )


def listed(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the root says of the arrays beside it, None for a run that has none."""
    if "described" not in attributes:
        return None
    documents = {k: one.document() for k, one in _arrays(attributes).items()}
    return {"kind": "inline", "must_understand": False, "metadata": documents}


def axis_files(attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """Files of coordinates, whose values are known from the start."""
    found: dict[str, bytes] = {}
    if "described" not in attributes:
        return found
    for name, one in _arrays(attributes).items():
        if one.values is not None:
            found[f"{name}/{ROOT}"] = written(one.document())
            for file, part in one.chunks():
                found[f"{name}/{file}"] = one.encoded(one.values[(*part, ...)])
    return found


def clear_plain(store: Store) -> None:
    """Remove what is there, for a run that is about to grow."""
    for name in _arrays(store.attributes):
        (store.place / name).clear()


def write_plain(store: Store, table: Table) -> None:
    """Write what is missing of the plain data of a finished run.

    Does nothing in a place that cannot be written, or if the run grows meanwhile.

    Raises:
        OSError: if it cannot be written though the place can, as on a full disk.
        Replaced: if the run is not there any more.
    """
    if not lacks_plain(store):
        return
    try:
        with alone(store.work, store.check):
            mine = canonical(store.attributes)
            is_same = lambda: canonical(open_store(store.place).attributes) == mine
            if is_same():
                _write(store, table, _missing(store))
            if not is_same():  # another one took us for dead, and let the run grow
                clear_plain(store)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise


def lacks_plain(store: Store) -> bool:
    """Whether anything of it is missing, of a run that has it."""
    return bool(_missing(store))


def _write(store: Store, table: Table, missing: set[str]) -> None:
    groups = table.groups()
    arrays = _arrays(store.attributes)
    for name in sorted(arrays, key=lambda name: name == _name(STATUS)):
        one = arrays[name]
        if one.column is None:
            values = one.values
        else:
            group, _, key = one.column.partition("/")
            values = groups[group][key].values.reshape(one.shape)
        assert values is not None
        parts = {f"{name}/{file}": part for file, part in one.chunks()}
        mine = sorted(missing.intersection({*parts, f"{name}/{ROOT}"}))
        if not mine:
            continue
        for file in mine:
            is_chunk = file in parts
            content = (
                one.encoded(values[(*parts[file], ...)])
                if is_chunk
                else written(one.document())
            )
            store.check()
            (store.place / file).write(content)
        for path in (store.place / name).unsynced():
            sync(path)


def _missing(store: Store) -> set[str]:
    """Files of the plain data that are not there."""
    if "described" not in store.attributes:
        return set()
    wanted = set()
    for name, one in _arrays(store.attributes).items():
        wanted |= {f"{name}/{ROOT}", *(f"{name}/{file}" for file, _ in one.chunks())}
    return wanted - set(store.place.files())


def _arrays(attributes: Mapping[str, Any]) -> dict[str, _Array]:
    """Every array by its name at the root; those whose name is no name are left out."""
    stored, axes = attributes["configuration"], attributes["axes"]
    said = attributes.get("described", {})
    seeds = np.arange(stored["seeds"])
    lead = {name: len(values) for name, values in axes.items()} | {"seed": len(seeds)}
    over = {**axes, "seed": seeds, "time": stored["times"], **attributes["coords"]}
    if any(name.startswith("networks/") for name in attributes["columns"]):
        over["kept"] = stored["keep"]
    used = {d for column in attributes["columns"].values() for d in column["dims"]}
    coordinates = {k: v for k, v in over.items() if k in {*lead, *used, "time"}}
    fixed = {k: v for k, v in stored["cell"].items() if k not in axes}
    found = {}
    for name, values in coordinates.items():
        as_float = np.float64 if name in ("time", "kept") else None
        found[name] = _coordinate((name,), values, said.get(name), as_float)
    for name, value in fixed.items():
        if isinstance(value, (bool, int, float, str)):
            found[name] = _coordinate((), value, said.get(name))
    found = {k: one for k, one in found.items() if one is not None and _is_name(k)}
    for column, about in attributes["columns"].items():
        name, dims = _name(column), (*lead, *about["dims"])
        shape = (*lead.values(), *row_shape(attributes, column))
        fill = fill_value(column, np.dtype(about["dtype"]))
        more = dict(said.get(name, {}))
        if column == STATUS:
            # What xarray takes for coordinates, though it is not an axis.
            more |= FLAGS | {"coordinates": " ".join(k for k in fixed if k in found)}
        if _is_name(name):
            found[name] = _Array(
                tuple(map(_free, dims)), shape, about["dtype"], fill, more, None, column
            )
    return {_free(name): one for name, one in found.items()}


def _coordinate(
    dims: tuple[str, ...],
    given: Any,
    said: Mapping[str, str] | None,
    dtype: type | None = None,
) -> _Array | None:
    """A coordinate; None for values that no array holds."""
    try:
        values = np.asarray(given, dtype)
    except (ValueError, TypeError):
        return None
    kind = _KINDS.get(values.dtype.kind)
    if kind is None or values.ndim != len(dims):
        return None
    values = values.astype(object if kind == "string" else kind)
    dims, said = tuple(map(_free, dims)), dict(said or {})
    return _Array(dims, values.shape, kind, _FILLS[kind], said, values)


def _name(column: str) -> str:
    """What a column is called in a result."""
    group, _, name = column.partition("/")
    return f"network.{name}" if group == "networks" else name


def _free(name: str) -> str:
    return f"{name}_" if name in _TAKEN else name


def _is_name(name: str) -> bool:
    """Whether a file may be called so, and xarray finds it by it."""
    plain = name.replace(".", "").replace("_", "")
    is_short = len(name.encode()) <= _LONGEST
    return plain.isalnum() and not name.startswith(".") and is_short
