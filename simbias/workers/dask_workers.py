"""Workers as tasks of Dask."""

import dataclasses
import time
import uuid
from collections.abc import Sequence
from typing import Any

from simbias.errors import BadInput
from simbias.workers import _child_process as child_process
from simbias.workers.command import Command
from simbias.workers.cores import share_of_cores
from simbias.workers.pool import (
    AbstractPool,
    State,
    Worker,
    check_count,
    cores_of_each,
    required,
)

_LOOK_SECONDS = 1.0


@dataclasses.dataclass
class DaskWorkers(AbstractPool):
    """So many tasks, each in a thread of a worker of Dask.

    Dask starts one again whose worker is gone, as often as its setting
    `distributed.scheduler.allowed-failures` says.  They end with the process that has
    submitted them.
    """

    count: int = 4
    cpus: int | None = None
    """Cores that each one keeps to; Dask itself counts threads.  4 if you do not say;
    without a cluster, an equal part of what there is."""
    address: str | None = None
    """Of a scheduler; a cluster on this machine if not given."""

    def __post_init__(self):
        check_count(workers=self.count, cpus=1 if self.cpus is None else self.cpus)
        if self.cpus is None:
            here = len(share_of_cores("1/1")) if self.address is None else 0
            self.cpus = cores_of_each(self.count, here or None)
        self._tasks: list[Any] = []

    @property
    def outlives(self) -> bool:
        """See AbstractPool."""
        return False

    def __enter__(self) -> "DaskWorkers":
        """See AbstractPool."""
        self._dask = required("distributed", "dask", "`--cluster dask`")
        here: dict[str, Any] = {"address": self.address}
        if self.address is None:
            here = {"n_workers": self.count, "threads_per_worker": 1}
            here |= {"host": "127.0.0.1", "dashboard_address": None}
        try:
            self._client = self._dask.Client(**here, set_as_default=False)
        except OSError as error:
            raise BadInput(f"`--address`: {self.address}: {error}") from None
        self._leave = f"simbias-{uuid.uuid4().hex}"
        return self

    def __exit__(self, *_) -> None:
        """See AbstractPool."""
        self.cancel()
        while not all(worker.state.is_over for worker in self.status()):
            time.sleep(_LOOK_SECONDS)
        self._client.close()
        if self._client.cluster is not None:
            self._client.cluster.close()

    def submit(self, command: Command) -> None:
        """See AbstractPool."""
        for _ in range(self.count):
            asked = (command, self.cpus, self._leave)
            self._tasks.append(self._client.submit(_work, *asked, pure=False))

    def status(self) -> Sequence[Worker]:
        """See AbstractPool; those that wait for a thread count as running."""
        return [_worker(task) for task in self._tasks]

    def cancel(self) -> None:
        """See AbstractPool: a thread cannot be interrupted, so that it is told."""
        self._dask.Event(self._leave, client=self._client).set()


def _worker(task: Any) -> Worker:
    if not task.done():
        return Worker(task.key, State.RUNNING)
    if task.status == "finished":
        return Worker(task.key, State.DONE)
    return Worker(task.key, State.FAILED, f"{task.status}: {task.exception()}")


def _work(command: Command, cpus: int, leave: str) -> None:
    """What a task does; it leaves as well when its scheduler does not answer.

    Nor does anybody want it when who has submitted it is gone: its thread goes on then,
    and Dask only notes that its result is not asked for.
    """
    dask, looked = required("distributed", "dask", "`--cluster dask`"), 0.0
    event, worker = dask.Event(leave), dask.get_worker()
    key = worker.get_current_task()

    def is_asked() -> bool:
        nonlocal looked
        if time.monotonic() - looked < _LOOK_SECONDS:
            return False
        looked = time.monotonic()
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            return True
        try:
            return event.is_set()
        except (OSError, TimeoutError):
            return True

    code = child_process.work(command, cpus, is_asked)
    child_process.check(0 if code == child_process.LEFT else code)
