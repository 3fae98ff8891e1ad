"""The part of a result at a value of an axis, or what stands for a value it lacks."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from simbias.analysis.parts import with_axes

_NEEDS = "needs "
Part = TypeVar("Part", xr.Dataset, xr.DataArray)


def at(
    ds: Part, dim: str, value: float | int | str | bool | Callable[[Any], Any]
) -> Part:
    """The part of a result where an axis has a value.

    Where the axis lacks it all numbers of the part are NaN, and the part says what is
    needed.  Arithmetic keeps that, and a claim that is made of such a part is not
    applicable: `needs_of` reads it.

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
    found = np.isclose(known, wanted) if is_number else np.equal(known, wanted)
    if np.any(found):
        return ds.isel({dim: int(np.argmax(found))})
    shown = wanted if isinstance(wanted, str | bool) else f"{wanted:g}"
    part = ds.isel({dim: 0}, drop=True)
    part = part.where(xr.zeros_like(part, bool))
    name = f"{_NEEDS}{dim.removeprefix('flow.').replace('_', ' ')} = {shown}"
    return part.assign_coords({dim: wanted, name: True})


def needs_of(*values: Any) -> Sequence[str]:
    """What the parts lacked from which values were computed."""
    names = (str(k) for one in values for k in getattr(one, "coords", ()))
    return sorted({k.removeprefix(_NEEDS) for k in names if k.startswith(_NEEDS)})
