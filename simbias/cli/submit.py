"""`simbias submit`: workers as jobs of a cluster, by submitit."""

import dataclasses
import importlib
import pathlib
import shutil
import signal
import threading
import time
from typing import Any, Literal

import numpy as np
import tyro

from simbias.cli._options import Folder
from simbias.cli._place import found_run
from simbias.cli._pool import finished_so_far
from simbias.cli._source import File, source_of
from simbias.cli._terminal import say
from simbias.ensemble.bar import Bar
from simbias.ensemble.left import exit_at_once, is_left
from simbias.errors import BadInput
from simbias.store.address import is_url
from simbias.store.text import check_text


@dataclasses.dataclass(frozen=True)
class SubmitOptions:
    """Start workers of a run as jobs; needs `pip install 'simbias[slurm]'`."""

    folder: Folder
    """The folder of the run, or its URL, which every node must see."""
    file: File = None
    """The file that the run is of, if it is one of yours; every node must see it."""
    trust_code: bool = False
    """Use the text of that file that lies in the folder; it may do anything."""
    logs: pathlib.Path | None = None
    """Folder for what the jobs print, which every node must see; by default DIR/jobs,
    or ./jobs for a URL."""
    cluster: Literal["slurm", "local"] = "slurm"
    """`local` starts the jobs on this machine, to try it out."""
    workers: int = 4
    """Jobs; each is one worker."""
    minutes: int = 60
    """Time limit of a job; one that reaches it saves its work and is queued again."""
    requeues: int = 1000
    """How often a job that reached its time limit is queued again. One that was
    preempted always is."""
    cpus: int = 4
    """Cores of a job."""
    gpus: int = 0
    """Accelerators of a job."""
    partition: str | None = None
    """Partition of the cluster."""
    wait: bool = False
    """Wait for the jobs, with a progress bar."""


# The exit code of a worker that was asked to leave and has saved its work.
LEFT = 128 + signal.SIGTERM
_POLL_SECONDS = 1.0


class _Postponed:
    """Signals for which somebody else has a handler, kept until the work is saved.

    submitit's queues the job again and raises SystemExit.  Where a signal comes while
    Python collects garbage nobody sees that exception, and the job would go on as if
    nothing had been asked.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._noted: int | None = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> "_Postponed":
        for name in ("SIGUSR1", "SIGUSR2"):
            number = getattr(signal, name, None)
            if number is not None and callable(signal.getsignal(number)):
                self._handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def handle(self) -> None:
        """Let the handler have the signal that came, if any.

        Raises:
            SystemExit: if the handler does.
        """
        if self._noted is None:
            return
        try:
            self._handlers[self._noted](self._noted, None)
        except SystemExit as leaving:
            if is_left() and isinstance(leaving.code, int):
                exit_at_once(leaving.code)
            raise

    def _note(self, number: int, _frame: Any) -> None:
        self._noted = number
        self.asked.set()


@dataclasses.dataclass(frozen=True)
class Work:
    """What a job does."""

    folder: str
    words: tuple[str, ...] = ()

    def __call__(self) -> None:
        """Work until the run is finished, or the job is asked to be queued again.

        Raises:
            RuntimeError: if the worker fails.
            SystemExit: that of submitit, after it has queued the job again.
        """
        # Imported here: a job begins with this function.
        from simbias.cli import exit_code

        with _Postponed() as postponed:
            worker = ["worker", self.folder, *self.words, "--quiet"]
            code = exit_code(worker, over=postponed.asked)
        if code == LEFT:
            postponed.handle()
        if code:
            raise RuntimeError(f"the worker ended with code {code}")

    def checkpoint(self) -> Any:
        """The same again, for a job that ran out of time or was preempted."""
        submitit = importlib.import_module("submitit")
        return submitit.helpers.DelayedSubmission(self)


def submit(arguments: list[str]) -> int:
    """Start workers of a run as jobs."""
    parsed = tyro.cli(SubmitOptions, args=arguments, prog="simbias submit")
    for name in ("workers", "minutes", "cpus"):
        if getattr(parsed, name) < 1:
            raise BadInput(
                f"`{name}` must be positive, got {getattr(parsed, name)}. Example: 4."
            )
    if parsed.requeues < 0:
        raise BadInput(
            f"`requeues` must not be negative, got {parsed.requeues}. Example: 1000."
        )
    try:
        submitit = importlib.import_module("submitit")
    except ImportError:
        raise BadInput(
            "`simbias submit` needs submitit: pip install 'simbias[slurm]'. Without "
            "it, let jobs of your own call `simbias worker`."
        ) from None
    out, store = found_run(parsed.folder)
    file = parsed.file and str(pathlib.Path(parsed.file).absolute())
    one = source_of(store, "submit", file, parsed.trust_code)
    check_text(store.attributes["recipe"], one.recipe)
    if parsed.cluster == "slurm" and shutil.which("srun") is None:
        raise BadInput(
            "`--cluster slurm`: there is no `srun` here. Submit from a node of the "
            "cluster, or try it out with --cluster local."
        )
    here = "jobs" if is_url(parsed.folder) else f"{out}/jobs"
    logs = parsed.logs or pathlib.Path(here)
    requeues = {f"{parsed.cluster}_max_num_timeout": parsed.requeues}
    executor = submitit.AutoExecutor(folder=logs, cluster=parsed.cluster, **requeues)
    executor.update_parameters(
        name="simbias",
        timeout_min=parsed.minutes,
        cpus_per_task=parsed.cpus,
        gpus_per_node=parsed.gpus,
        **({"slurm_partition": parsed.partition} if parsed.partition else {}),
    )
    with executor.batch():
        jobs = [
            executor.submit(Work(str(out), one.words)) for _ in range(parsed.workers)
        ]
    say(
        f"Jobs {', '.join(job.job_id for job in jobs)}; what they print is in "
        f"{logs}. When they are done: {one.command('resume', out)}"
    )
    if parsed.wait:
        members = np.bincount(store.rows() // store.block)
        with Bar("submitted", int(members.sum()), is_drawn=True) as bar:
            while not all(job.done() for job in jobs):
                bar.show(finished_so_far(store, members))
                time.sleep(_POLL_SECONDS)
            bar.show(finished_so_far(store, members))
        for job in jobs:
            job.result()
    return 0
