"""Workers as processes of this machine."""

import dataclasses
import subprocess
from collections.abc import Sequence

from simbias.workers._child_process import LEFT, ask_to_leave, started
from simbias.workers.command import Command
from simbias.workers.cores import share_of_cores
from simbias.workers.pool import AbstractPool, State, Worker, check_count


@dataclasses.dataclass
class LocalWorkers(AbstractPool):
    """So many processes, each with its share of the cores.

    They end with the process that started them, however it ends, and one that fails is
    not started again.
    """

    count: int = 2

    def __post_init__(self):
        check_count(workers=self.count)
        self._children: list[subprocess.Popen] = []

    @property
    def outlives(self) -> bool:
        """See AbstractPool."""
        return False

    def __enter__(self) -> "LocalWorkers":
        """See AbstractPool."""
        return self

    def __exit__(self, *_) -> None:
        """See AbstractPool."""
        self.cancel()
        for child in self._children:
            child.wait()

    def submit(self, command: Command) -> None:
        """See AbstractPool."""
        for i in range(self.count):
            share = share_of_cores(f"{i + 1}/{self.count}")
            self._children.append(started(command, share))

    def status(self) -> Sequence[Worker]:
        """See AbstractPool."""
        return [_worker(child) for child in self._children]

    def cancel(self) -> None:
        """See AbstractPool."""
        for child in self._children:
            ask_to_leave(child)


def _worker(child: subprocess.Popen) -> Worker:
    name, code = f"process {child.pid}", child.poll()
    if code is None:
        return Worker(name, State.RUNNING)
    if code in (0, LEFT):
        return Worker(name, State.DONE)
    return Worker(name, State.FAILED, f"exit code {code}")
