"""Workers as jobs of Slurm, by submitit."""

import dataclasses
import pathlib
import shutil
import signal
import subprocess
import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal

from simbias.errors import BadInput
from simbias.workers import _child_process as child_process
from simbias.workers.command import Command
from simbias.workers.pool import AbstractPool, State, Worker, check_count, required

# A job hears so many seconds before its time limit that it shall leave: enough to save,
# and a quarter of a short one.
_WARNING_SECONDS = 90
_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")
# Slurm queues these again, or the job has asked for it: not at once.
_BETWEEN = ("PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "TIMEOUT")
_AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "RESIZING")
# So long a job may be between two queues, and `squeue` not answer.
_PATIENCE_SECONDS = 300


@dataclasses.dataclass
class SlurmWorkers(AbstractPool):
    """An array job of so many tasks, which goes on without who submitted it.

    One that reaches its time limit or is preempted saves its members in flight and is
    queued again, after the time limit up to `requeues` times; one whose node fails is
    queued again by Slurm.
    """

    count: int = 4
    logs: str | pathlib.Path = "jobs"
    """Folder for what the jobs print, which every node must see."""
    minutes: int = 60
    """Time limit of a job."""
    requeues: int = 1000
    cpus: int = 4
    gpus: int = 0
    partition: str | None = None
    engine: Literal["slurm", "local"] = "slurm"
    """`local` is submitit's own, which starts the jobs on this machine."""

    def __post_init__(self):
        check_count(
            workers=self.count,
            minutes=self.minutes,
            cpus=self.cpus,
            gpus=self.gpus,
            requeues=self.requeues,
        )
        self._jobs: list[Any] = []
        self._heard: tuple[float, dict[str, str]] | None = None
        self._between: dict[str, float] = {}

    @property
    def outlives(self) -> bool:
        """See AbstractPool."""
        return True

    def __enter__(self) -> "SlurmWorkers":
        """See AbstractPool."""
        self._submitit = required("submitit", "slurm", "Slurm")
        if self.engine == "slurm" and shutil.which("srun") is None:
            raise BadInput(
                "`--cluster slurm`: there is no `srun` here. Submit from a node of the "
                "cluster, or try it out with --cluster local."
            )
        return self

    def __exit__(self, *_) -> None:
        """Jobs are left to Slurm."""

    def submit(self, command: Command) -> None:
        """See AbstractPool."""
        most = {f"{self.engine}_max_num_timeout": self.requeues}
        executor = self._submitit.AutoExecutor(
            folder=self.logs, cluster=self.engine, **most
        )
        of_slurm: dict[str, Any] = {
            "slurm_signal_delay_s": min(_WARNING_SECONDS, 15 * self.minutes),
            "slurm_additional_parameters": {"requeue": True},
            "slurm_setup": ["export PYTHONSAFEPATH=1"],
        }
        if self.partition:
            of_slurm["slurm_partition"] = self.partition
        executor.update_parameters(
            name="simbias",
            timeout_min=self.minutes,
            cpus_per_task=self.cpus,
            gpus_per_node=self.gpus,
            **of_slurm,
        )
        job = Job(command, self.cpus)
        try:
            with executor.batch():
                self._jobs += [executor.submit(job) for _ in range(self.count)]
        except Exception as error:
            # Of submitit, which has no name for it that lasts.
            if type(error).__name__ != "FailedJobError":
                raise
            said = str(error).strip().splitlines() or ["it did not say why"]
            raise BadInput(f"`--cluster slurm`: sbatch failed: {said[-1]}") from error
        # What `squeue` would say, should it not answer at first.
        self._heard = time.monotonic(), {job.job_id: "PENDING" for job in self._jobs}

    def status(self) -> Sequence[Worker]:
        """See AbstractPool; from one `squeue`, which needs no accounting.

        While it does not answer all is as it was, for five minutes.

        Raises:
            OSError, subprocess.SubprocessError: after that.
        """
        states = self._queue() if self.engine == "slurm" else {}
        return [self._worker(job, states.get(job.job_id)) for job in self._jobs]

    def _queue(self) -> dict[str, str]:
        now = time.monotonic()
        try:
            self._heard = now, _queue(self._jobs)
        except (OSError, subprocess.SubprocessError) as error:
            if self._heard is None or now - self._heard[0] > _PATIENCE_SECONDS:
                raise
            warnings.warn(f"{error}. It is asked again.", stacklevel=2)
        return self._heard[1]

    def cancel(self) -> None:
        """See AbstractPool."""
        for job in self._jobs:
            job.cancel(check=False)

    def _worker(self, job: Any, state: str | None) -> Worker:
        """What Slurm says counts, and what the job has left where Slurm has forgotten.

        The result of a job that is queued again is none.
        """
        if state in _WAITING or self._is_between(job.job_id, state):
            return Worker(job.job_id, State.WAITING, str(state).lower())
        if state in _AT_WORK or (state is None and self._is_at_work_here(job)):
            return Worker(job.job_id, State.RUNNING)
        if job.paths.result_pickle.exists():
            (error,) = [job.exception()]
            if error is None:
                return Worker(job.job_id, State.DONE)
            return Worker(job.job_id, State.FAILED, str(error).strip())
        said = "it is not in the queue" if state is None else state.lower()
        return Worker(job.job_id, State.FAILED, said)

    def _is_between(self, name: str, state: str | None) -> bool:
        if state not in _BETWEEN:
            self._between.pop(name, None)
            return False
        now = time.monotonic()
        return now - self._between.setdefault(name, now) < _PATIENCE_SECONDS

    def _is_at_work_here(self, job: Any) -> bool:
        return self.engine == "local" and not job.done()


@dataclasses.dataclass(frozen=True)
class Job:
    """What a job of submitit does."""

    command: Command
    cpus: int | None = None

    def __call__(self) -> None:
        """Work until the run is finished, or the job is asked to leave.

        Raises:
            RuntimeError: if the worker fails.
            SystemExit: that of submitit, after it has queued the job again.
        """
        with _Postponed() as postponed:
            asked = lambda: postponed.noted is not None
            code = child_process.work(self.command, self.cpus, asked)
        # Slurm's own SIGTERM ends a worker that has nothing to save yet, or any more.
        if code in (child_process.LEFT, -signal.SIGTERM):
            postponed.handle()
        child_process.check(code)

    def checkpoint(self) -> Any:
        """The same again, for a job that ran out of time or was preempted."""
        submitit = required("submitit", "slurm", "Slurm")
        return submitit.helpers.DelayedSubmission(self)


class _Postponed:
    """Signals of a cluster, kept until the work is saved.

    submitit's handler of one signal queues the job again and raises SystemExit; it only
    logs SIGTERM, by which Slurm announces a preemption.
    """

    def __init__(self) -> None:
        self.noted: int | None = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> "_Postponed":
        for name in ("SIGUSR1", "SIGUSR2", "SIGTERM"):
            number = getattr(signal, name, None)
            if number is not None and callable(signal.getsignal(number)):
                self._handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def handle(self) -> None:
        """Have the job queued again, unless who sent the signal sees to what follows.

        Raises:
            SystemExit: if the handler does.
        """
        number = self.noted
        if number == signal.SIGTERM:
            number = signal.SIGUSR2 if _is_preempted() else None
        if number in self._handlers:
            self._handlers[number](number, None)
        if self.noted is not None:
            raise SystemExit(child_process.LEFT)

    def _note(self, number: int, _frame: Any) -> None:
        self.noted = number if self.noted in (None, signal.SIGTERM) else self.noted


def _is_preempted() -> bool:
    """Whether Slurm takes this job for one at work, as it does in a grace period.

    One that is cancelled, past its time limit, or that Slurm itself queues again, is
    completing by now.
    """
    try:
        environment = required("submitit", "slurm", "Slurm").JobEnvironment()
        found = _states(["--jobs", environment.job_id])
    except (RuntimeError, OSError, subprocess.SubprocessError):
        return False
    return found.get(environment.job_id) == "RUNNING"


def _queue(jobs: Sequence[Any]) -> dict[str, str]:
    """State of every job that Slurm still knows, by its number."""
    numbers = sorted({job.job_id.partition("_")[0] for job in jobs})
    return _states(["--jobs", ",".join(numbers)]) if numbers else {}


def _states(which: Sequence[str]) -> dict[str, str]:
    """As `squeue` says.

    Raises:
        OSError, subprocess.SubprocessError: if it does not answer.
    """
    command = ["squeue", "--noheader", "--array", "--states=all", "--format=%i %T"]
    done = subprocess.run(
        [*command, *which], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode and "Invalid job id" not in done.stderr:
        raise ConnectionError(f"squeue: {done.stderr.strip()}")
    pairs = [line.split() for line in done.stdout.splitlines()]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
