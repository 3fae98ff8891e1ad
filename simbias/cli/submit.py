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
    """The folder of the run, or its URL; every node must be able to write to it."""
    file: File = None
    """The file of the experiment, if the run is of a file of yours; every node must be
    able to read it."""
    trust_code: bool = False
    """Use the copy of that file in the run. It is code and can do anything."""
    data: str | None = None
    """New path of the run's file of data, if it has moved; for every worker."""
    lanes: int | None = None
    """Networks computed at a time on each core or accelerator; by default as many as
    memory allows."""
    cluster: Literal["slurm", "ray", "dask", "local"] = "slurm"
    """What starts the workers; `local` starts processes on this machine."""
    address: str | None = None
    """Address of the cluster, for Ray (auto, HOST:6379, ray://HOST:10001) and Dask
    (tcp://HOST:8786); by default a new cluster on this machine."""
    workers: int = 4
    """Number of workers."""
    cpus: int | None = None
    """Cores of each worker; by default 4, or on this machine an equal share."""
    gpus: int | None = None
    """Accelerators of each worker, for Slurm and Ray; by default none."""
    minutes: int | None = None
    """For Slurm: time limit of a job in minutes; by default 60.  A job that reaches it
    saves its work and is queued again."""
    requeues: int | None = None
    """Largest number of times that a job is queued again after its time limit, or a
    task of Ray after its node was lost; by default 1000.  Preempted jobs always are."""
    partition: str | None = None
    """For Slurm: partition of the cluster."""
    logs: pathlib.Path | None = None
    """For Slurm: folder for the output of the jobs, which every node must be able to
    write to; by default DIR/jobs, or ./jobs for a URL."""
    wait: bool = False
    """Wait for the workers, with a progress bar.  Workers of Slurm continue if this
    command stops."""


def submit(arguments: list[str]) -> int:
    """Start workers of a run on a cluster."""
    parsed = tyro.cli(SubmitOptions, args=arguments, prog="simbias submit")
    if not is_url(parsed.folder):
        # Where a worker runs the working directory may be another one.
        parsed = dataclasses.replace(parsed, folder=os.path.abspath(parsed.folder))
    pool = _pool(parsed)
    if not (parsed.wait or pool.outlives):
        raise BadInput(
            f"`--cluster {parsed.cluster}`: these workers end together with this "
            "command. Add --wait."
        )
    out, store = found_run(parsed.folder)
    file = parsed.file and str(pathlib.Path(parsed.file).absolute())
    one = source_of(store, "submit", file, parsed.trust_code)
    check_text(store.attributes["recipe"], one.recipe)
    data = parsed.data and os.path.abspath(parsed.data)
    words, resume = (str(out), *one.words), one.command("resume", out)
    resume += f" --data {shlex.quote(data)}" if data else ""
    if store.is_whole():
        say(f"The run is finished. To draw the figure: {resume}")
        return 0
    with resumable(out, resume) as exit_status, pool:
        pool.submit(worker_command(words, parsed.lanes, data=data))
        names = ", ".join(worker.name for worker in pool.status())
        is_slurm = isinstance(pool, SlurmWorkers)
        logs = f"; their output is in {pool.logs}" if is_slurm else ""
        say(f"Submitted: {names}{logs}. When they are done: {resume}")
        if parsed.wait:
            try:
                wait(pool, store, "submitted")
            except (KeyboardInterrupt, SystemExit):
                if pool.outlives:
                    say(f"The workers continue without this command: {names}.")
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
                f"`--{name}` is not an option of --cluster {parsed.cluster}. Leave it "
                "out."
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
            f"`--logs`: {here} is a link, which a run must not contain. Choose another "
            "folder. Example: --logs ./jobs."
        )
    given.setdefault("logs", here)
    return SlurmWorkers(parsed.workers, **given)
