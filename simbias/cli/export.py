"""`simbias export`."""

import dataclasses
from typing import Annotated

import tyro

from simbias.cli._options import Folder
from simbias.cli._place import found_run
from simbias.cli._terminal import put
from simbias.results import open_result
from simbias.verbs.export import export as exported


@dataclasses.dataclass(frozen=True)
class ExportOptions:
    """Write a run, finished or not, to files for other programs."""

    folder: Folder
    """The folder of the run, or its URL."""
    file: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """NAME.nc (NetCDF), NAME.zarr, NAME.csv or NAME.parquet.  CSV and Parquet give one
    table of networks and one table for each other axis, such as time."""


def export(arguments: list[str]) -> int:
    """Write a run to files, and say which."""
    parsed = tyro.cli(ExportOptions, args=arguments, prog="simbias export")
    _, store = found_run(parsed.folder)
    for file in exported(open_result(str(store.place)), parsed.file):
        put(file)
    return 0
