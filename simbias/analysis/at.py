"""The part of a result at a value of an axis; NaN where the axis lacks the value."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from simbias.analysis.parts import with_axes

_NEEDS = "needs "
Part = TypeVar("Part", xr.Dataset, xr.DataArray)


def at(
    ds: Part, dim: str, value: float | int | str | np.generic | Callable[[Any], Any]
) -> Part:
    """The part of a result where an axis has a value.

    If the axis lacks the value, all numbers of the part are NaN, and a coordinate names
    the missing value.  Arithmetic keeps this coordinate, and `needs_of` reads it.

    Args:
        ds: a result, or a variable of it.
        dim: an argument of `make`, or a field of the flow.
        value: on the axis; `max` or `min` for its last or first value.

    Raises:
        KeyError: for an axis that the result does not know.
    """
    ds = ds if dim in ds.dims else with_axes(ds, (dim,))  # pyright: ignore
    known = np.asarray(ds.coords[dim])
    wanted: Any = value(known.tolist()) if callable(value) else value
    is_number = known.dtype.kind in "iuf"
    # No absolute tolerance: λ = 1e-16 is not 1e-8.
    equal = functools.partial(np.isclose, atol=0) if is_number else np.equal
    found = equal(known, wanted)
    if np.any(found):
        return ds.isel({dim: int(np.argmax(found))})
    shown = wanted if isinstance(wanted, str | bool) else f"{wanted:g}"
    part = ds.isel({dim: 0}, drop=True)
    part = part.where(xr.zeros_like(part, bool))
    name = f"{_NEEDS}{dim.removeprefix('flow.').replace('_', ' ')} = {shown}"
    return part.assign_coords({dim: wanted, name: True})


def needs_of(*values: Any) -> Sequence[str]:
    """Missing axis values among the parts that these arrays were computed from."""
    names = (str(k) for one in values for k in getattr(one, "coords", ()))
    return sorted({k.removeprefix(_NEEDS) for k in names if k.startswith(_NEEDS)})
