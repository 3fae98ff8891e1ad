"""`simbias resume`: continue a run that was stopped."""

import dataclasses

import tyro

from simbias.cli._options import Folder, Format
from simbias.cli._place import found_run
from simbias.cli._recipe import recipe_of
from simbias.cli._source import File, source_of
from simbias.cli._stored_run import Request, complete_run


@dataclasses.dataclass(frozen=True)
class ResumeOptions:
    """Continue a run that was stopped.

    The folder of the run is enough; a run of a file of yours needs that file too.  If a
    run is finished, a file with changed `figure` or `claims` draws and checks it again.
    """

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """The file of the experiment, if the run is of a file of yours."""
    trust_code: bool = False
    """Use the copy of that file in the run. It is code and can do anything."""
    data: str | None = None
    """New path of the run's file of data, if it has moved."""
    lanes: int | None = None
    """Networks computed at a time on each core or accelerator; by default as many as
    memory allows."""
    workers: int | None = None
    """Number of processes on this machine; they share its cores."""
    format: tuple[Format, ...] = ("png",)
    """Format of the figure; several are possible."""
    live: bool = False
    """Show the page of the run in a browser of this machine while it goes on."""


def resume(arguments: list[str]) -> int:
    """Continue a run that was stopped."""
    parsed = tyro.cli(ResumeOptions, args=arguments, prog="simbias resume")
    out, store = found_run(parsed.folder)
    source = source_of(store, "resume", parsed.file, parsed.trust_code)
    asked = (parsed.lanes, parsed.workers, parsed.format, parsed.live)
    recipe = recipe_of(store, source, parsed.data)
    request = Request(source, recipe, out, *asked, redraws=True, data=parsed.data)
    return complete_run(request)
