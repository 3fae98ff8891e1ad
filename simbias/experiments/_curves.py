"""A result of several axes as curves over one of them."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from simbias.results import cell_of


def curves(ds: xr.Dataset, axis: str) -> Iterator[tuple[str, xr.Dataset]]:
    """(label, part over `axis` and `seed`) for every point of the other grid axes.

    A value that was held fixed becomes an axis of length 1; the axis is sorted.
    """
    if axis not in ds.dims:
        ds = ds.expand_dims({axis: [cell_of(ds)[axis]]})
    ds = ds.sortby(axis)
    others = [d for d in ds["status"].dims if d not in (axis, "seed")]
    if not others:
        yield "", ds
        return
    stacked = ds.stack(curve=others)
    for i in range(stacked.sizes["curve"]):
        part = stacked.isel(curve=i)
        label = ", ".join(f"{k} = {part[k].item()}" for k in others)
        part = part.assign_coords({k: part[k].item() for k in others})
        yield label, part.drop_vars("curve").transpose(axis, "seed", ...)


def points(ds: xr.Dataset, axis: str) -> Iterator[tuple[str, xr.Dataset]]:
    """(what to add to the value of `axis` to name it, part) for every grid point."""
    for label, part in curves(ds, axis):
        for i in range(part.sizes[axis]):
            yield f", {label}" if label else "", part.isel({axis: i})


def value(ds: xr.Dataset, name: str) -> Any:
    """A value of the cell, whether it was an axis (now one point) or held fixed."""
    if name in ds.coords and ds[name].ndim == 0:
        return ds[name].item()
    return cell_of(ds)[name]
