"""`simbias report`."""

import dataclasses
from typing import Annotated, Any

import tyro
import xarray as xr

from simbias.cli._options import Folder, experiment_of
from simbias.cli._phenomenon import files_of, phenomenon_of
from simbias.cli._place import found_run, writable
from simbias.cli._report import REPORT, film_of, origin_of, time_taken_by
from simbias.cli._terminal import put
from simbias.errors import BadInput
from simbias.registry import is_experiment
from simbias.report.comparison import comparison
from simbias.report.page_contents import PageContents, page_contents
from simbias.report.report import report as page_of
from simbias.results import open_result
from simbias.store.address import place_at
from simbias.store.layout import Store
from simbias.store.place import AbstractPlace


@dataclasses.dataclass(frozen=True)
class ReportOptions:
    """Write an HTML page about a run, DIR/report.html, or about two runs."""

    folder: Folder
    """The folder of the run, or its URL."""
    more: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[DIR|FILE …]")
    ] = ()
    """Another run to compare with, and the files of the runs if they are yours."""
    out: str | None = None
    """File or URL of the page; by default report.html in the folder of the run."""
    trust_code: bool = False
    """Use the copy of your file in the run. It is code and can do anything."""


def report(arguments: list[str]) -> int:
    """Write a page about a run, or two, and say where."""
    parsed = tyro.cli(ReportOptions, args=arguments, prog="simbias report")
    files = [word for word in parsed.more if word.endswith(".py")]
    others = [word for word in parsed.more if not word.endswith(".py")]
    if len(others) > 1 or len(files) > 1 + len(others):
        raise BadInput(
            "`simbias report` takes one or two runs, and at most one file for each, "
            f"got {', '.join((parsed.folder, *parsed.more))}."
        )
    runs = [_Run(*found_run(word)) for word in (parsed.folder, *others)]
    name = REPORT if len(runs) == 1 else f"report-{runs[1].out.name}.html"
    page = runs[0].out / name if parsed.out is None else place_at(parsed.out)
    if not page.name.endswith((".html", ".htm")):
        raise BadInput(
            f"`--out` must end in .html or .htm, got {page}. Example: run.html."
        )
    writable(page)
    own = files_of([run.store for run in runs], files)
    pages = [
        run.contents(file, parsed.trust_code)
        for run, file in zip(runs, own, strict=True)
    ]
    if len(pages) == 1:
        text = page_of(pages[0])
    else:
        text = comparison(*pages, names=(str(runs[0].out), str(runs[1].out)))
    page.write(text.encode(errors="replace"))
    put(page)
    return 0


@dataclasses.dataclass(frozen=True)
class _Run:
    out: AbstractPlace
    store: Store

    def contents(self, file: str | None, trusts: bool) -> PageContents:
        """What there is to see of it, computed again from what is stored."""
        ds = open_result(str(self.store.place))
        return contents_of_run(self.store, ds, "report", file, trusts)


def contents_of_run(
    store: Store, ds: xr.Dataset, verb: str, file: str | None, trusts: bool
) -> PageContents:
    """A stored run; without question, claims and figures if no experiment is known.

    Raises:
        ValueError: if it is of a file of yours that is not given.
    """
    recipe = store.attributes["recipe"]
    film = film_of(store.place.parent)
    asked: dict[str, Any] = {"origin": origin_of(recipe), "film": film}
    asked["time_taken"] = time_taken_by(store)
    if recipe is None and file is None and not is_experiment(ds.attrs["experiment"]):
        return page_contents(ds, None, **asked)
    source = phenomenon_of(verb, store, ds.attrs["experiment"], file, trusts)
    if recipe is not None:
        module, preset = source.module, recipe["preset"]
        asked["experiment"] = experiment_of(module, preset, recipe["overrides"])
    return page_contents(ds, source.module, **asked)
