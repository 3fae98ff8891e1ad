"""`simbias figure`."""

import dataclasses

import tyro

from simbias.cli._failures import Failures
from simbias.cli._figures_and_claims import write_figures
from simbias.cli._options import Folder, Format
from simbias.cli._phenomenon import phenomenon_of
from simbias.cli._place import found_run
from simbias.cli._source import File
from simbias.cli._terminal import put, say
from simbias.core import Status
from simbias.errors import BadInput
from simbias.results import is_finished, open_result


@dataclasses.dataclass(frozen=True)
class FigureOptions:
    """Draw the figure of a run again, from the stored data: DIR/figure.png."""

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """A file of yours with `figure(ds)`: the changed file of the run, or another."""
    trust_code: bool = False
    """Use the copy of your file in the run. It is code and can do anything."""
    format: tuple[Format, ...] = ("png",)
    """Format of the figure; several are possible."""


def figure(arguments: list[str]) -> int:
    """Draw the figure of a run again, from the stored data."""
    parsed = tyro.cli(FigureOptions, args=arguments, prog="simbias figure")
    out, store = found_run(parsed.folder)
    ds = open_result(str(store.place))
    if not is_finished(ds).any():
        raise BadInput(
            f"{out}: no network has finished yet, so there is nothing to draw. To "
            f"continue the run: simbias resume {out}"
        )
    if left := int((ds["status"] == Status.RUNNING).sum()):
        say(
            f"{out}: {left} of {ds['status'].size} networks have not finished and are "
            f"not in the figure. To continue the run: simbias resume {out}"
        )
    name, own = ds.attrs["experiment"], (parsed.file, parsed.trust_code)
    source = phenomenon_of("figure", store, name, *own)
    module, failures = source.module, Failures(source, out)
    if not hasattr(module, "figure"):
        raise BadInput(
            f"{module.__file__} must define `figure(ds)`, which returns a matplotlib "
            "Figure."
        )
    with failures.of("figure"):
        for file in write_figures(module, ds, out, parsed.format):
            put(out / file)
    failures.raise_first()
    return 0
