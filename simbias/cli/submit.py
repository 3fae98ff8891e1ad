"""`simbias submit`: workers placed by what a laboratory has."""

import dataclasses
import os
import pathlib
import shlex
from typing import Any, Literal

import tyro

from simbias.cli._exit_status import resumable
from simbias.cli._options import Folder
from simbias.cli._place import found_run
from simbias.cli._pool import worker_command
from simbias.cli._source import File, source_of
from simbias.cli._terminal import say
from simbias.errors import BadInput
from simbias.store.address import is_url
from simbias.store.source import check_text
from simbias.workers.dask_workers import DaskWorkers
from simbias.workers.local_workers import LocalWorkers
from simbias.workers.pool import AbstractPool
from simbias.workers.ray_workers import RayWorkers
from simbias.workers.slurm_workers import SlurmWorkers
from simbias.workers.wait import wait

# Which options mean something to what places the workers.
_OPTIONS = {
    "slurm": ("cpus", "gpus", "minutes", "requeues", "partition", "logs"),
    "ray": ("address", "cpus", "gpus", "requeues"),
    "dask": ("address", "cpus"),
    "local": (),
}


@dataclasses.dataclass(frozen=True)
class SubmitOptions:
    """Start workers of a run on a cluster.

    Slurm needs `pip install 'simbias[slurm]'`; Ray and Dask need their own extra.
    """

    folder: Folder
    """The folder of the run, or its URL, which every node must see."""
    file: File = None
    """The file that the run is of, if it is one of yours; every node must see it."""
    trust_code: bool = False
    """Use the text of that file that lies in the folder; it may do anything."""
    data: str | None = None
    """Where the file of data lies that the run was given, for every worker."""
    lanes: int | None = None
    """Members in flight per core or accelerator; by default as many as memory holds."""
    cluster: Literal["slurm", "ray", "dask", "local"] = "slurm"
    """What places the workers; `local` starts processes on this machine."""
    address: str | None = None
    """Of the cluster, for Ray (auto, HOST:6379, ray://HOST:10001) and Dask
    (tcp://HOST:8786); without one they make one on this machine."""
    workers: int = 4
    """How many."""
    cpus: int | None = None
    """Cores of a worker, 4 if you do not say.  On this machine alone, workers get an
    equal part of what there is."""
    gpus: int | None = None
    """Accelerators of a worker, for Slurm and Ray; none if you do not say."""
    minutes: int | None = None
    """For Slurm: time limit of a job, 60 if you do not say; one that reaches it saves
    its work and is queued again."""
    requeues: int | None = None
    """How often a job that reached its time limit is queued again, and a task of Ray
    whose node was lost, 1000 times if you do not say. Jobs that were preempted always
    are."""
    partition: str | None = None
    """For Slurm: partition of the cluster."""
    logs: pathlib.Path | None = None
    """For Slurm: folder for what the jobs print, which every node must see; by default
    DIR/jobs, or ./jobs for a URL."""
    wait: bool = False
    """Wait for the workers, with a progress bar; those of Slurm go on without."""


def submit(arguments: list[str]) -> int:
    """Start workers of a run on a cluster."""
    parsed = tyro.cli(SubmitOptions, args=arguments, prog="simbias submit")
    if not is_url(parsed.folder):
        # Where a worker runs the working directory may be another one.
        parsed = dataclasses.replace(parsed, folder=os.path.abspath(parsed.folder))
    pool = _pool(parsed)
    if not (parsed.wait or pool.outlives):
        raise BadInput(
            f"`--cluster {parsed.cluster}`: these workers end with the command that "
            "has started them. Add --wait."
        )
    out, store = found_run(parsed.folder)
    file = parsed.file and str(pathlib.Path(parsed.file).absolute())
    one = source_of(store, "submit", file, parsed.trust_code)
    check_text(store.attributes["recipe"], one.recipe)
    data = parsed.data and os.path.abspath(parsed.data)
    words, resume = (str(out), *one.words), one.command("resume", out)
    resume += f" --data {shlex.quote(data)}" if data else ""
    if store.is_whole():
        say(f"Nothing is left to do. For the figure: {resume}")
        return 0
    with resumable(out, resume) as exit_status, pool:
        pool.submit(worker_command(words, parsed.lanes, data=data))
        names = ", ".join(worker.name for worker in pool.status())
        is_slurm = isinstance(pool, SlurmWorkers)
        logs = f"; what they print is in {pool.logs}" if is_slurm else ""
        say(f"Submitted: {names}{logs}. When they are done: {resume}")
        if parsed.wait:
            try:
                wait(pool, store, "submitted")
            except (KeyboardInterrupt, SystemExit):
                if pool.outlives:
                    say(f"The workers go on without this command: {names}.")
                raise
    return exit_status.code


def _pool(parsed: SubmitOptions) -> AbstractPool:
    """What places the workers, not entered yet.

    Raises:
        ValueError: naming an option that does not go with it.
    """
    given: dict[str, Any] = {
        name: value
        for name in sum(_OPTIONS.values(), ())
        if (value := getattr(parsed, name)) is not None
    }
    for name in given:
        if name not in _OPTIONS[parsed.cluster]:
            raise BadInput(
                f"`--{name}` means nothing to --cluster {parsed.cluster}. Leave it out."
            )
    if parsed.cluster == "local":
        return LocalWorkers(parsed.workers)
    if parsed.cluster == "dask":
        return DaskWorkers(parsed.workers, **given)
    if parsed.cluster == "ray":
        return RayWorkers(parsed.workers, **given)
    here = "jobs" if is_url(parsed.folder) else f"{parsed.folder}/jobs"
    if "logs" not in given and os.path.islink(here):
        raise BadInput(
            f"`--logs`: {here} is a link, which no run holds. Say where logs go. "
            "Example: --logs ./jobs."
        )
    given.setdefault("logs", here)
    return SlurmWorkers(parsed.workers, **given)
