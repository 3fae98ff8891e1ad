"""`simbias run`, `resume` and `worker`: one run in one place, a folder or a URL."""

import dataclasses
import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from typing import Any

import tyro

from simbias.cli._options import (
    PRESETS,
    Folder,
    experiment_of,
    named,
    options_class,
    overrides,
    resolved,
)
from simbias.cli._pool import end_of_input, run_workers, take_share
from simbias.cli._shown import (
    claims_document,
    print_claims,
    say,
    write_figures,
    write_json,
)
from simbias.configuration import provenance
from simbias.ensemble.grid import make_grid
from simbias.ensemble.left import is_left
from simbias.ensemble.memory import describe_memory
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.registry import experiments
from simbias.results import attributes, to_xarray
from simbias.shown import judge
from simbias.simulate import planned
from simbias.store.address import place_at
from simbias.store.layout import Store, open_store
from simbias.store.place import AbstractPlace, Replaced
from simbias.store.work import complete, prepare, work

BAD_INPUT, INTERRUPTED = 2, 130
_LEAVING = {
    INTERRUPTED: "Stopped",
    128 + signal.SIGTERM: "Terminated",
    129: "The terminal was closed: stopped",
}
Recipe = dict[str, Any]


def run(arguments: list[str]) -> int:
    """Simulate, draw the figure, check the claims."""
    name, rest = named(arguments, "run")
    module = experiments()[name]
    preset, steps, rest = resolved(rest)
    experiment = experiment_of(module, preset, steps)
    make_grid(experiment)  # a wrong value in the file is named before tyro sees it
    parsed = tyro.cli(
        options_class(experiment, preset),
        args=rest,
        prog=f"simbias run {name}",
        description=module.__doc__,
    )
    steps = [*steps, overrides(parsed, experiment)]
    default = f"runs/{name}-{preset}"
    out = place_at(default if parsed.out is None else parsed.out)
    recipe = {"experiment": name, "preset": preset, "overrides": steps}
    return _complete(recipe, out, parsed.lanes, parsed.workers)


@dataclasses.dataclass(frozen=True)
class ResumeOptions:
    """Go on with a run that was stopped, from its folder alone."""

    folder: Folder
    """The folder of the run, or its URL."""
    lanes: int | None = None
    """Members in flight per station."""
    workers: int | None = None
    """Processes on this machine; they share its cores."""


def resume(arguments: list[str]) -> int:
    """Go on with a run that was stopped."""
    parsed = tyro.cli(ResumeOptions, args=arguments, prog="simbias resume")
    out, store = found_run(parsed.folder)
    return _complete(_recipe(store), out, parsed.lanes, parsed.workers)


@dataclasses.dataclass(frozen=True)
class WorkerOptions:
    """Help with a run until it is finished; any number, on any machines.

    Workers come and go as they like: what a dead one was at is taken over.
    """

    folder: Folder
    """The folder of the run, or its URL, which every worker must see."""
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
    recipe = _recipe(store)
    plan = _plan(recipe, parsed.lanes, holds_result=False)
    store = prepare(store.place, plan, attributes(plan, recipe))
    with _resumable(out, f"simbias worker {shlex.quote(str(out))}") as ending:
        progress = not parsed.quiet
        work(plan, store, lanes=parsed.lanes, progress=progress, over=over)
    return ending.code


def _complete(
    recipe: Recipe, out: AbstractPlace, lanes: int | None, workers: int | None
) -> int:
    """A run from wherever it is to its claims."""
    if workers is not None and workers < 0:
        raise BadInput(f"`workers` must not be negative, got {workers}. Example: 2.")
    name, preset = recipe["experiment"], recipe["preset"]
    module = experiments()[name]
    plan = _plan(recipe, lanes, holds_result=workers != 0)
    described = attributes(plan, recipe)
    denied = _made_ready(out)
    store = prepare(out / "run.zarr", plan, described)
    document = {"preset": preset, "configuration": described["configuration"]}
    if denied is None:
        write_json(out / "config.json", {**document, **provenance()})
    if workers == 0:
        say(
            f"{out} is ready. Start any number of: simbias worker {out}\n"
            f"When they are done: simbias resume {out}"
        )
        return 0
    command = f"simbias resume {shlex.quote(str(out))}"
    with _resumable(out, command + (f" --workers {workers}" if workers else "")) as end:
        while (table := complete(store)) is None:
            if denied is not None:
                raise BadInput(
                    f"cannot write to {out}: {denied}. Its run is not finished: copy "
                    "it to where you can write, and resume it there."
                )
            say(describe_memory(plan, lanes))
            if workers is None:
                work(plan, store, lanes=lanes, progress=True)
            else:
                run_workers(plan, store, out, workers, lanes)
        ds = to_xarray(table, described)
        claims, files = judge(module, ds), []
        if denied is None:
            store.check()
            write_json(out / "claims.json", claims_document(name, preset, ds, claims))
            files = write_figures(module, ds, out, store.check)
        else:
            say(f"Nothing was written to {out}: {denied}.")
            there = sorted(out.files())
            files = [file for file in there if fnmatch(file, "figure*.png")]
        print_claims(name, ds, claims)
        print("".join(f"\n{out / file}" for file in files))
    return end.code


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
        say(f"\n{_LEAVING[code]}{unwaited}. {how}")
        ending.code = code
    except (FileNotFoundError, Replaced):
        raise  # the run itself is gone
    except (OSError, RuntimeError):
        say(f"\nStopped by an error. {how}")
        raise


def _plan(recipe: Recipe, lanes: int | None, *, holds_result: bool) -> Plan:
    module = experiments()[recipe["experiment"]]
    experiment = experiment_of(module, recipe["preset"], recipe["overrides"])
    return planned(experiment, lanes, holds_result=holds_result)


def found_run(folder: str) -> tuple[AbstractPlace, Store]:
    """The place of a run and its store; either may be given.

    Raises:
        ValueError: if it is not a run.
    """
    out = place_at(folder)
    if out.name == "run.zarr" and not (out / "run.zarr").exists():
        out = out.parent
    return out, open_store(out / "run.zarr")


def _recipe(store: Store) -> Recipe:
    recipe = store.attributes["recipe"]
    if recipe is None or recipe["experiment"] not in experiments():
        raise BadInput(
            f"`{store.place}` was made by a program of your own: run that program "
            "again, on as many machines as you like; `simulate` goes on from there."
        )
    if recipe["preset"] not in PRESETS:
        raise BadInput(f"`{store.place}` has a preset that is none: {recipe!r}.")
    return recipe


def _made_ready(out: AbstractPlace) -> str | None:
    """Why nothing can be written there, None if something can.

    Raises:
        ValueError: if something else is there, or if there is no run and can be none.
    """
    has_run = (out / "run.zarr").exists()
    if not has_run and not out.is_free():
        raise BadInput(
            f"`--out`: {out} is a file, or holds something that is not a run; nothing "
            "was written."
        )
    try:
        out.ready()
    except OSError as error:
        if has_run:
            return error.strerror
        raise BadInput(f"`--out`: cannot write to {out}: {error.strerror}.") from None
    return None
