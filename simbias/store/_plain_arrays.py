"""The arrays of the plain data: those over the grid, and its coordinates."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simbias.ensemble.array_attributes import FLAGS
from simbias.ensemble.table import GROUPS
from simbias.store._chunks import chunk_names, content, text_content
from simbias.store._columns import STATUS, fill_value
from simbias.store.documents import array_document, row_shape
from simbias.store.place import ROOT

# A chunk has at most so many bytes.
_CHUNK_BYTES = 1 << 22
# What else lies at the root: an array of such a name gets an underscore.
_TAKEN = (*GROUPS, "work", "evaluations", ROOT)
_LONGEST = 200
# Kinds of numbers that a coordinate may have -> what is stored.
_KINDS = {"b": "bool", "i": "int64", "f": "float64", "U": "string"}
_FILLS = {"bool": False, "int64": 0, "float64": float("nan"), "string": ""}


@dataclasses.dataclass(frozen=True)
class PlainArray:
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
        return chunk_names(self.shape, self.chunk)

    def content(self, values: np.ndarray) -> bytes:
        """What a file holds, before it is packed."""
        if self.dtype == "string":
            return text_content(values)
        return content(values, self.chunk, self.fill)

    def document(self) -> dict[str, Any]:
        """Its zarr document."""
        return array_document(
            self.shape, self.chunk, self.dtype, self.fill, self.dims, self.attributes
        )


def plain_arrays(attributes: Mapping[str, Any]) -> dict[str, PlainArray]:
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
        name, dims = name_of(column), (*lead, *about["dims"])
        shape = (*lead.values(), *row_shape(attributes, column))
        fill = fill_value(column, np.dtype(about["dtype"]))
        more = dict(said.get(name, {}))
        if column == STATUS:
            # What xarray takes for coordinates, though it is not an axis.
            more |= FLAGS | {"coordinates": " ".join(k for k in fixed if k in found)}
        if _is_name(name):
            found[name] = PlainArray(
                tuple(map(_free, dims)), shape, about["dtype"], fill, more, None, column
            )
    return {_free(name): one for name, one in found.items()}


def _coordinate(
    dims: tuple[str, ...],
    given: Any,
    said: Mapping[str, str] | None,
    dtype: type | None = None,
) -> PlainArray | None:
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
    return PlainArray(dims, values.shape, kind, _FILLS[kind], said, values)


def name_of(column: str) -> str:
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
