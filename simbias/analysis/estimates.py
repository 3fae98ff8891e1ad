"""One estimate for every cell of a grid."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from simbias.errors import BadInput

ENDS = ("value", "low", "high")


def estimates(
    estimator: Callable[[xr.DataArray], Any],
    values: xr.DataArray,
    *,
    over: Sequence[str] = ("n", "seed"),
) -> xr.Dataset:
    """`estimator` of the part of `values` over some axes, for all values of the others.

        found = estimates(threshold, is_success)  # value, low, high over the other axes

    Args:
        estimator: of an array over `over`: what has `value`, `low` and `high`, such as
            an `Estimate`; `threshold`, `median_crossing`, …
        values: over `over` and any other axes.
        over: names of the axes that an estimate is made of.

    Returns:
        `value`, `low` and `high` over the other axes; NaN and infinite where there is
        none, and where an interval has no end.

    Raises:
        BadInput: for an axis that `values` does not have.
    """
    if missing := [name for name in over if name not in values.dims]:
        raise BadInput(
            f"`over` names {missing[0]!r}, and `values` has the axes "
            f"{', '.join(map(str, values.dims))}. Example: over=('seed',)."
        )
    others = [dim for dim in values.dims if dim not in over]
    found = np.full((len(ENDS), *(values.sizes[dim] for dim in others)), np.nan)
    for place in np.ndindex(found.shape[1:]):
        part = values.isel(dict(zip(others, place, strict=True)), drop=True)
        one = estimator(part)
        found[(slice(None), *place)] = [getattr(one, end) for end in ENDS]
    coords = {k: v for k, v in values.coords.items() if {*v.dims} <= {*others}}
    arrays = {end: (others, part) for end, part in zip(ENDS, found, strict=True)}
    return xr.Dataset(arrays, coords)
