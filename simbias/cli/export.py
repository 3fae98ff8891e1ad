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
    """Write a run, finished or not, to files that other programs read."""

    folder: Folder
    """The folder of the run, or its URL."""
    file: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """NAME.nc (NetCDF), NAME.zarr, NAME.csv or NAME.parquet.  Of the last two there is
    one of members, and one of what they have along each other axis."""


def export(arguments: list[str]) -> int:
    """Write a run to files, and say which."""
    parsed = tyro.cli(ExportOptions, args=arguments, prog="simbias export")
    _, store = found_run(parsed.folder)
    for file in exported(open_result(str(store.place)), parsed.file):
        put(file)
    return 0
