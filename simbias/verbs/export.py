"""A result in files that other programs read: NetCDF, Zarr, CSV, Parquet."""

import functools
import importlib
import os
import pathlib
import re
import tempfile
from collections.abc import Callable, Hashable

import numpy as np
import xarray as xr

from simbias.core import Status
from simbias.errors import BadInput
from simbias.results import as_result

# Suffix -> the module that it needs and does not come with simbias.
_NEEDS = {".nc": "h5netcdf", ".zarr": None, ".csv": None, ".parquet": "pyarrow"}


def export(
    ds: xr.Dataset | str | os.PathLike, path: str | os.PathLike
) -> list[pathlib.Path]:
    """Write a result to files, whose kind the suffix says.

    * `.nc`, NetCDF 4: everything, to the last bit, with coordinates and attributes;
      `xr.open_dataset` gives it back.
    * `.zarr`, a folder of Zarr format 2: the same, for `xr.open_zarr`.
    * `.csv` and `.parquet`, tables for pandas, polars or R: one row for a member, with
      a column for each axis, coordinate and number; what a member has by time, or along
      axes of a measure, in further files of one row for a value,
      `NAME-time.csv`, `NAME-time-row.csv`.  `status` is a name.  CSV has the shortest
      digits that give a number back.  Weights of kept networks are in none of them.

    A file appears when it is complete; none is replaced.

    Args:
        ds: a result, a part of one, or the folder or URL of a run.
        path: a file, in a folder that exists.

    Returns:
        What was written.

    Raises:
        ValueError: for another suffix, a folder that is not there, a file that is, or
            a package that is missing (`pip install 'simbias[export]'`).
    """
    ds, target = as_result(ds), pathlib.Path(path)
    if target.suffix not in _NEEDS:
        raise BadInput(
            f"`path` must end in one of {', '.join(_NEEDS)}, which sets the format, "
            f"got {str(path)!r}. Example: export(ds, 'run.nc')."
        )
    _check_installed(target.suffix)
    if not target.parent.is_dir():
        raise BadInput(
            f"`path`: the folder {target.parent} does not exist. Create it first."
        )
    if target.suffix in (".csv", ".parquet"):
        writes = {
            _beside(target, dims): functools.partial(_write_table, ds[names])
            for dims, names in _groups(ds).items()
        }
    else:
        writes = {target: _whole_writer(ds, target.suffix)}
    for file in writes:
        if file.exists():
            raise BadInput(
                f"`path`: {file} exists already; nothing was written. Choose another "
                "name."
            )
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as aside:
        done = {file: pathlib.Path(aside) / file.name for file in writes}
        for file, write in writes.items():
            write(done[file])
        for file, partial in done.items():
            partial.rename(file)
    return [*writes]


def _check_installed(suffix: str) -> None:
    needed = _NEEDS[suffix]
    try:
        importlib.import_module(needed or "xarray")
    except ImportError:
        raise BadInput(
            f"`path`: {suffix} needs {needed}. Install it: pip install "
            "'simbias[export]'. Or write .csv or .zarr, which need nothing more."
        ) from None


def _whole_writer(ds: xr.Dataset, suffix: str) -> Callable[[pathlib.Path], object]:
    # How it was stored is not how it is written here.
    plain = ds.drop_encoding()
    if suffix == ".nc":
        return lambda file: plain.to_netcdf(file, engine="h5netcdf")
    return lambda file: plain.to_zarr(file, zarr_format=2)


def _groups(ds: xr.Dataset) -> dict[tuple[Hashable, ...], list[Hashable]]:
    """Axes that values have beside those of a member -> names of such values."""
    grid = ds["status"].dims if "status" in ds else ()
    out: dict[tuple[Hashable, ...], list[Hashable]] = {(): []}
    for name, values in ds.data_vars.items():
        if not str(name).startswith("network."):
            own = tuple(dim for dim in values.dims if dim not in grid)
            out.setdefault(own, []).append(name)
    return {dims: names for dims, names in out.items() if names}


def _beside(target: pathlib.Path, dims: tuple[Hashable, ...]) -> pathlib.Path:
    own = [re.sub(r"[^\w=.+-]", "_", str(dim)) for dim in dims]
    return target.with_stem("-".join([target.stem, *own]))


def _write_table(part: xr.Dataset, file: pathlib.Path) -> None:
    """One row for a value: axes first, then what was held fixed, then values."""
    if "status" in part:
        names = np.array([s.name for s in Status])
        part = part.assign(status=part["status"].copy(data=names[part["status"]]))
    # What is known of another axis only is of another table.
    used = {dim for values in part.data_vars.values() for dim in values.dims}
    lost = [k for k, v in part.coords.items() if not {*v.dims} <= used]
    # An axis without values has its places.
    bare = {dim: np.arange(part.sizes[dim]) for dim in used if dim not in part.coords}
    frame = part.drop_vars(lost).assign_coords(bare).to_dataframe()
    first, last = [*frame.index.names], [str(name) for name in part.data_vars]
    frame = frame.reset_index()
    held = [name for name in frame.columns if name not in (*first, *last)]
    frame = frame[[*first, *held, *last]]
    if file.suffix == ".csv":
        frame.to_csv(file, index=False)
    else:
        frame.to_parquet(file, index=False)
