"""A result of more axes than a figure or a claim reads, cut into parts."""

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr


def parts(ds: xr.Dataset, axes: Sequence[str]) -> Iterator[tuple[str, xr.Dataset]]:
    """Every part of a result over `axes` and the seeds, and what it is called.

    A part has all of `axes` as dimensions, those of numbers in increasing order, and
    one value of every other axis of the grid, as a coordinate.

    Args:
        ds: a result.
        axes: arguments of `make`, or fields of the flow (`flow.rtol`), that stay.

    Yields:
        The values of the other axes, as `m = 200, scale = 0.001` (nothing if there
        are none), and the part.

    Raises:
        KeyError: for an axis that the result does not know.
    """
    ds = with_axes(ds, axes)
    others = [str(k) for k in ds["status"].dims if k not in (*axes, "seed")]
    if not others:
        yield "", ds.transpose(*axes, "seed", ...)
        return
    for place in np.ndindex(*(ds.sizes[k] for k in others)):
        part = ds.isel(dict(zip(others, place, strict=True)))
        label = ", ".join(f"{k} = {part[k].item()}" for k in others)
        yield label, part.transpose(*axes, "seed", ...)


def with_axes(ds: xr.Dataset, axes: Sequence[str]) -> xr.Dataset:
    """The result with all of `axes` as dimensions; numbers increase along them.

    Raises:
        KeyError: for an axis that the result does not know.
    """
    if unknown := [k for k in axes if k not in ds.coords]:
        raise KeyError(f"`{unknown[0]}` is neither an axis nor an argument of this run")
    ds = ds.expand_dims([k for k in axes if k not in ds.dims])
    return ds.sortby([k for k in axes if ds[k].dtype.kind in "iuf"])
