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
    """Members in flight per core or accelerator; by default as many as memory holds."""
    share: str | None = None
    """Of the cores, as 1/4, 2/4, …: for several workers on one machine."""
    quiet: bool = False
    """No progress bar."""
    complete: bool = True
    """Write the plain data of the run once it is finished, if no other worker has."""
    attached: bool = False
    """Stop, as on SIGTERM, when standard input ends: with whoever started the worker
    and holds the other end."""


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
