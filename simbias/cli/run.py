"""`simbias run`, `resume` and `worker`: one run in one place, a folder or a URL."""

import dataclasses
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from typing import Any

import numpy as np
import tyro
import xarray as xr

from simbias.cli import _output as output
from simbias.cli._drawing import CHANGED
from simbias.cli._options import (
    PRESETS,
    Folder,
    Format,
    experiment_of,
    general_options,
    options_class,
    overrides,
    resolved,
    sizes,
)
from simbias.cli._overrides import moved
from simbias.cli._place import found_run, made_ready
from simbias.cli._pool import end_of_input, finished_so_far, run_workers, take_share
from simbias.cli._report import origin_of, write_report
from simbias.cli._shown import (
    claims_document,
    print_claims,
    write_figures,
    write_json,
)
from simbias.cli._source import File, Source, named, source_of
from simbias.cli._telling import Teller
from simbias.cli._terminal import INTERRUPTED, say
from simbias.core import Claim, Experiment
from simbias.ensemble.configuration import provenance
from simbias.ensemble.grid import make_grid
from simbias.ensemble.left import is_left
from simbias.ensemble.memory import describe_memory
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.results import attributes, to_xarray
from simbias.store.address import place_at
from simbias.store.layout import Store
from simbias.store.place import AbstractPlace, Replaced
from simbias.store.text import check_text, is_same_text
from simbias.store.work import complete, prepare, work
from simbias.verbs.shown import judge
from simbias.verbs.simulate import planned

_LEAVING = {
    INTERRUPTED: "Stopped",
    128 + signal.SIGTERM: "Terminated",
    129: "The terminal was closed: stopped",
}
Recipe = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class _Request:
    """A run in a place, and what of it is asked for.

    `redraws` lets a file of yours have another text once nothing is left to compute.
    """

    source: Source
    recipe: Recipe
    out: AbstractPlace
    lanes: int | None
    workers: int | None
    formats: tuple[str, ...]
    redraws: bool = False


def run(arguments: list[str]) -> int:
    """Simulate, draw the figure, check the claims."""
    if {"-h", "--help"} & {*arguments[:1]}:
        tyro.cli(general_options(), args=["--help"], prog="simbias run NAME")
    source, rest = named(arguments, "run")
    preset, steps, rest = resolved(rest)
    experiment = experiment_of(source.module, preset, steps)
    make_grid(experiment)  # a wrong value in the file is named before tyro sees it
    parsed = tyro.cli(
        options_class(experiment, preset, sizes(source.module)),
        args=rest,
        prog=f"simbias run {arguments[0]}",
        description=source.module.__doc__,
    )
    steps = [*steps, overrides(parsed, experiment)]
    default = f"runs/{source.name}-{preset}"
    out = place_at(default if parsed.out is None else parsed.out)
    recipe = {**source.recipe, "preset": preset, "overrides": steps}
    asked = (parsed.lanes, parsed.workers, parsed.format)
    return _complete(_Request(source, recipe, out, *asked))


@dataclasses.dataclass(frozen=True)
class ResumeOptions:
    """Go on with a run that was stopped, from its folder alone.

    A run of a file of yours needs that file.  Once it is finished, a file with another
    `figure` or other `claims` draws and judges it again.
    """

    folder: Folder
    """The folder of the run, or its URL."""
    file: File = None
    """The file that the run is of, if it is one of yours."""
    trust_code: bool = False
    """Use the text of that file that lies in the folder; it may do anything."""
    data: str | None = None
    """Where the file of data lies that the run was given, if it has moved."""
    lanes: int | None = None
    """Members in flight per station."""
    workers: int | None = None
    """Processes on this machine; they share its cores."""
    format: tuple[Format, ...] = ("png",)
    """Of the figure; several at once."""


def resume(arguments: list[str]) -> int:
    """Go on with a run that was stopped."""
    parsed = tyro.cli(ResumeOptions, args=arguments, prog="simbias resume")
    out, store = found_run(parsed.folder)
    source = source_of(store, "resume", parsed.file, parsed.trust_code)
    asked = (parsed.lanes, parsed.workers, parsed.format)
    recipe = recipe_of(store, source, parsed.data)
    request = _Request(source, recipe, out, *asked, redraws=True)
    return _complete(request)


@dataclasses.dataclass(frozen=True)
class WorkerOptions:
    """Help with a run until it is finished; any number, on any machines.

    Workers come and go as they like: what a dead one was at is taken over.
    """

    folder: Folder
    """The folder of the run, or its URL, which every worker must see."""
    file: File = None
    """The file that the run is of, if it is one of yours."""
    trust_code: bool = False
    """Use the text of that file that lies in the folder; it may do anything."""
    data: str | None = None
    """Where the file of data lies that the run was given, on this machine."""
    lanes: int | None = None
    """Members in flight per station."""
    share: str | None = None
    """Of the cores, as 1/4, 2/4, …: for several workers on one machine."""
    quiet: bool = False
    """No progress bar."""
    attached: bool = False
    """Stop, as on SIGTERM, when standard input ends: with whoever started the worker
    and holds the other end."""


def worker(arguments: list[str], over: threading.Event | None = None) -> int:
    """Help with a run, until it is finished or `over` is set."""
    parsed = tyro.cli(WorkerOptions, args=arguments, prog="simbias worker")
    over = end_of_input() if parsed.attached else over
    take_share(parsed.share)
    out, store = found_run(parsed.folder)
    source = source_of(store, "worker", parsed.file, parsed.trust_code)
    recipe = recipe_of(store, source, parsed.data)
    plan = _plan(source, recipe, parsed.lanes, holds_result=False)
    store = prepare(store.place, plan, attributes(plan, recipe))
    with _resumable(out, source.command("worker", out)) as ending:
        progress = not parsed.quiet
        work(plan, store, lanes=parsed.lanes, progress=progress, over=over)
    return ending.code


def _complete(request: _Request) -> int:
    """A run from wherever it is to its claims.

    Raises:
        ValueError: for a number of workers that is none, a place that holds something
            else, or a run that differs.
    """
    source, recipe, out = request.source, request.recipe, request.out
    workers, lanes = request.workers, request.lanes
    if workers is not None and workers < 0:
        raise BadInput(f"`workers` must not be negative, got {workers}. Example: 2.")
    plan = _plan(source, recipe, lanes, holds_result=workers != 0)
    described = attributes(plan, recipe)
    denied = made_ready(out)
    store = prepare(out / "run.zarr", plan, described)
    is_of_this_text = is_same_text(store.attributes["recipe"], recipe)
    if not request.redraws:
        check_text(store.attributes["recipe"], recipe)
    if denied is None:
        _write_configuration(out, store, recipe, described["configuration"])
    if workers == 0:
        say(
            f"{out} is ready. Start any number of: {source.command('worker', out)}\n"
            f"When they are done: {source.command('resume', out)}"
        )
        return 0
    command = source.command("resume", out)
    teller = Teller(plan, out)
    with _resumable(out, command + (f" --workers {workers}" if workers else "")) as end:
        while (table := complete(store)) is None:
            check_text(store.attributes["recipe"], recipe)
            if denied is not None:
                raise BadInput(
                    f"cannot write to {out}: {denied}. Its run is not finished: copy "
                    "it to where you can write, and resume it there."
                )
            done = finished_so_far(store, np.bincount(store.rows() // store.block))
            teller.announce(describe_memory(plan, lanes), done)
            if workers is None:
                work(plan, store, lanes=lanes, progress=True, report=teller)
            else:
                words = (str(out), *source.words)
                run_workers(plan, store, words, workers, lanes, report=teller)
            teller.learn(in_one=workers is None)
        if not is_of_this_text:
            say(CHANGED.format(file=recipe["file"]["name"]))
        ds = to_xarray(table, described)
        _show(request, plan.experiment, ds, denied, store.check)
    return end.code


def _write_configuration(
    out: AbstractPlace, store: Store, recipe: Recipe, configuration: Any
) -> None:
    document = {"preset": recipe["preset"], "configuration": configuration}
    if file := (store.attributes["recipe"] or {}).get("file"):
        document["file"] = {key: file[key] for key in ("name", "sha256")}
    write_json(out / "config.json", {**document, **provenance()})


def _show(
    request: _Request,
    experiment: Experiment,
    ds: xr.Dataset,
    denied: str | None,
    check: Callable[[], None],
) -> None:
    """Write and print what a finished run shows."""
    module, out, name = request.source.module, request.out, request.source.name
    claims, files = judge(module, ds), []
    document = claims_document(name, request.recipe["preset"], ds, claims)
    if denied is None:
        check()
        write_json(out / "claims.json", document)
        _tell(name, ds, claims, document)  # before a figure of yours may fail
        files = write_figures(module, ds, out, request.formats, check)
        asked = (claims, files, origin_of(request.recipe), check)
        files += write_report(module, experiment, ds, out, *asked)
    else:
        say(f"Nothing was written to {out}: {denied}.")
        _tell(name, ds, claims, document)
        shown = ("figure*.*", "report.html")
        files = [f for f in sorted(out.files()) if any(fnmatch(f, p) for p in shown)]
    if output.is_lines():
        paths = [str(out / file) for file in files]
        output.emit("done", run=str(out), files=paths, exit_code=0)
    else:
        print("".join(f"\n{out / file}" for file in files))


def _tell(
    name: str, ds: xr.Dataset, claims: list[Claim], document: dict[str, Any]
) -> None:
    if output.is_lines():
        output.emit("claims", **document)
    else:
        print_claims(name, ds, claims)


@dataclasses.dataclass
class _Ending:
    code: int = 0


@contextmanager
def _resumable(out: AbstractPlace, command: str) -> Iterator[_Ending]:
    """Say how to go on, whatever stops a run; the exit code is that of its signal."""
    ending = _Ending()
    how = f"What is done so far is in {out}. To go on from there:\n\n  {command}\n"
    try:
        yield ending
    except (KeyboardInterrupt, SystemExit) as leaving:
        code = leaving.code if isinstance(leaving, SystemExit) else INTERRUPTED
        if code not in _LEAVING:
            raise
        unwaited = ", without waiting for what was being compiled" if is_left() else ""
        output.emit("stopped", exit_code=code, resume=command)
        say(f"\n{_LEAVING[code]}{unwaited}. {how}")
        ending.code = code
    except (FileNotFoundError, Replaced):
        raise  # the run itself is gone
    except (OSError, RuntimeError):
        say(f"\nStopped by an error. {how}")
        raise


def _plan(
    source: Source, recipe: Recipe, lanes: int | None, *, holds_result: bool
) -> Plan:
    experiment = experiment_of(source.module, recipe["preset"], recipe["overrides"])
    return planned(experiment, lanes, holds_result=holds_result)


def recipe_of(store: Store, source: Source, data: str | None = None) -> Recipe:
    """The recipe of a run, with the experiment of a source, and its file of data.

    Raises:
        ValueError: if it has a preset that is none, or is not of that file.
    """
    recipe = store.attributes["recipe"]
    if recipe["preset"] not in PRESETS:
        raise BadInput(f"`{store.place}` has a preset that is none: {recipe!r}.")
    if data is not None:
        recipe = {**recipe, "overrides": moved(recipe["overrides"], data)}
    return {**recipe, **source.recipe}
