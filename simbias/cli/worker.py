"""`simbias worker`: one process more at a run, on any machine that sees it."""

import dataclasses
import os

import tyro

from simbias.cli._exit_status import resumable
from simbias.cli._options import Folder
from simbias.cli._place import found_run
from simbias.cli._recipe import plan_of, recipe_of
from simbias.cli._source import File, source_of
from simbias.ensemble.memory import check_memory
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.results import attributes
from simbias.store.time_taken import Stopwatch
from simbias.store.work import complete_by_one, prepare, work
from simbias.workers.cores import share_of_cores
from simbias.workers.end_of_input import end_of_input


@dataclasses.dataclass(frozen=True)
class WorkerOptions:
    """Help to compute a run until it is finished.

    Any number of workers on any machines can share a run.  They can start and stop at
    any time; the others take over the work of a dead one.
    """

    folder: Folder
    """The folder of the run, or its URL; every worker must be able to write to it."""
    file: File = None
    """The file of the experiment, if the run is of a file of yours."""
    trust_code: bool = False
    """Use the copy of that file in the run. It is code and can do anything."""
    data: str | None = None
    """Path of the run's file of data on this machine, if it differs."""
    lanes: int | None = None
    """Networks computed at a time on each core or accelerator; by default as many as
    memory allows."""
    share: str | None = None
    """Share of the cores, as 1/4, 2/4, …, for several workers on one machine."""
    quiet: bool = False
    """Show no progress bar."""
    complete: bool = True
    """Write the plain data of the finished run, if no other worker has."""
    attached: bool = False
    """Stop, as on SIGTERM, when standard input ends, so with the process that started
    the worker."""


def worker(arguments: list[str]) -> int:
    """Help with a run until it is finished."""
    parsed = tyro.cli(WorkerOptions, args=arguments, prog="simbias worker")
    over = end_of_input() if parsed.attached else None
    if parsed.share is not None and (cores := share_of_cores(parsed.share)):
        os.sched_setaffinity(0, cores)
    out, store = found_run(parsed.folder)
    # What keeps it from computing is an error that `status` shows, too.
    with Stopwatch(store) as clock:
        source = source_of(store, "worker", parsed.file, parsed.trust_code)
        recipe = recipe_of(store, source, parsed.data)
        plan = plan_of(source, recipe, parsed.lanes, holds_result=False)
        store = prepare(store.place, plan, attributes(plan, recipe))
        with resumable(out, source.command("worker", out)) as exit_status:
            asked = {"lanes": parsed.lanes, "progress": not parsed.quiet, "over": over}
            work(plan, store, report=clock, **asked)
            if parsed.complete and _fits(plan):
                complete_by_one(store)
        if exit_status.code:
            clock.left_early()
    return exit_status.code


def _fits(plan: Plan) -> bool:
    """Whether this machine can hold the whole result."""
    try:
        check_memory(plan)
    except BadInput:
        return False
    return True
