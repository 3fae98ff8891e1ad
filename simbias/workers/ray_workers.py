"""Workers as tasks of Ray."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from simbias.errors import BadInput
from simbias.workers import _child_process as child_process
from simbias.workers.command import Command
from simbias.workers.pool import (
    AbstractPool,
    State,
    Worker,
    check_count,
    cores_of_each,
    required,
)

# Else Ray kills a worker when the process above it ends, before it has saved its work.
_SPARED = {"env_vars": {"RAY_kill_child_processes_on_worker_exit": "0"}}


@dataclasses.dataclass
class RayWorkers(AbstractPool):
    """So many tasks, each with its cores and accelerators.

    Ray starts one again whose node or process is gone, up to `requeues` times.  They
    end with the process that has submitted them.
    """

    count: int = 4
    cpus: int | None = None
    """4 if you do not say; without a cluster, an equal part of what there is."""
    gpus: int = 0
    requeues: int = 1000
    address: str | None = None
    """Of a cluster, as for `ray.init`; a cluster on this machine if not given.  A
    process that is connected to one already uses that."""

    def __post_init__(self):
        cpus = 1 if self.cpus is None else self.cpus
        check_count(
            workers=self.count, cpus=cpus, gpus=self.gpus, requeues=self.requeues
        )
        self._tasks: list[Any] = []
        self._is_ours = False

    @property
    def outlives(self) -> bool:
        """See AbstractPool."""
        return False

    def __enter__(self) -> "RayWorkers":
        """See AbstractPool."""
        # Else Ray starts its processes by `uv run`, in an environment of their own.
        os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        self._ray = required("ray", "ray", "`--cluster ray`")
        if not self._ray.is_initialized():
            self._connect()
            self._is_ours = True
        if self.address is None:
            self._check_room()
        elif self.cpus is None:
            self.cpus = cores_of_each(self.count)
        return self

    def __exit__(self, *_) -> None:
        """See AbstractPool."""
        self.cancel()
        if self._tasks:
            self._ray.wait(self._tasks, num_returns=len(self._tasks))
        if self._is_ours:
            self._ray.shutdown()

    def submit(self, command: Command) -> None:
        """See AbstractPool."""
        task = self._ray.remote(
            num_cpus=self.cpus,
            num_gpus=self.gpus,
            max_retries=self.requeues,
            runtime_env=_SPARED,
        )(_work)
        for _ in range(self.count):
            self._tasks.append(task.remote(command, self.cpus))

    def status(self) -> Sequence[Worker]:
        """See AbstractPool; those that wait for cores count as running."""
        if not self._tasks:
            return []
        ended, _ = self._ray.wait(
            self._tasks, num_returns=len(self._tasks), timeout=0, fetch_local=False
        )
        return [
            self._worker(f"task {i}", task, task in ended)
            for i, task in enumerate(self._tasks)
        ]

    def cancel(self) -> None:
        """See AbstractPool."""
        for task in self._tasks:
            self._ray.cancel(task, force=False, recursive=False)

    def _connect(self) -> None:
        here: dict[str, Any] = {"address": self.address}
        if self.address is None:
            here = {"address": "local", "include_dashboard": False}
            here["_node_ip_address"] = "127.0.0.1"
        try:
            # Ray lets its workers import from the folder in which it is entered.
            with _signals_kept(), contextlib.chdir(pathlib.Path(sys.executable).parent):
                self._ray.init(**here, logging_level="warning")
        except ConnectionError as error:
            raise BadInput(f"`--address`: {self.address}: {error}") from None

    def _check_room(self) -> None:
        """Refuse workers for which this machine has no room, and divide what it has.

        A cluster may grow, so that there they wait.
        """
        there = self._ray.cluster_resources()
        if self.cpus is None:
            self.cpus = cores_of_each(self.count, int(there.get("CPU", 0)))
        for name, wanted in (("CPU", self.cpus), ("GPU", self.gpus)):
            if wanted > there.get(name, 0):
                raise BadInput(
                    f"`{name.lower()}s` must not be more than there are here, "
                    f"{int(there.get(name, 0))}, got {wanted}."
                )

    def _worker(self, name: str, task: Any, has_ended: bool) -> Worker:
        if not has_ended:
            return Worker(name, State.RUNNING)
        try:
            self._ray.get(task)
        except self._ray.exceptions.TaskCancelledError:
            return Worker(name, State.DONE)
        except self._ray.exceptions.RayTaskError as error:
            return Worker(name, State.FAILED, str(error.cause))
        except self._ray.exceptions.RayError as error:
            return Worker(name, State.FAILED, str(error).partition("\n")[0])
        return Worker(name, State.DONE)


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Handlers of signals stay what they were.

    SIGTERM ends a process that is connected to Ray at once, and not by way of Python.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(command: Command, cpus: int) -> None:
    """What a task does; Ray interrupts it by the exception that SIGINT raises."""
    # None where Ray was started in the background of a script, which ignores SIGINT.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    child_process.check(child_process.work(command, cpus))
