"""Places where workers run, behind one seam: start them, ask after them, call them off.

What a run has reached is in its store, whoever computes it: a pool knows nothing of it.
"""

import abc
import dataclasses
import enum
import importlib
from collections.abc import Sequence
from typing import Any

from simbias.errors import BadInput
from simbias.workers.command import Command

# Of a worker on a cluster.
_CORES = 4


class State(enum.Enum):
    """What a worker is at, as far as its pool knows."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether the worker will do nothing any more."""
        return self in (State.DONE, State.FAILED)


@dataclasses.dataclass(frozen=True)
class Worker:
    """One worker of a pool; `said` is why it failed, or what its pool says of it."""

    name: str
    state: State
    said: str = ""


class AbstractPool(abc.ABC):
    """Workers of one run; entered, it has what it needs, and left, gives it back.

    A worker that is lost, with its node or without, is started again where the pool can
    do so; whether it is or not, another one takes over what it was at.
    """

    @property
    @abc.abstractmethod
    def outlives(self) -> bool:
        """Whether workers go on without the process that has submitted them."""

    @abc.abstractmethod
    def __enter__(self) -> "AbstractPool":
        """Reach what places the workers.

        Raises:
            ValueError: naming what is wrong, or the extra that is not installed.
        """

    @abc.abstractmethod
    def __exit__(self, *_) -> None:
        """Let go; workers that cannot outlive this process save their work and end."""

    @abc.abstractmethod
    def submit(self, command: Command) -> None:
        """Start the workers, or queue them."""

    @abc.abstractmethod
    def status(self) -> Sequence[Worker]:
        """The workers, in the order in which they were submitted."""

    @abc.abstractmethod
    def cancel(self) -> None:
        """Ask all to save what they are at and leave; it does not wait for them."""


def required(package: str, extra: str, what: str) -> Any:
    """A package that is not needed without a pool.

    Raises:
        ValueError: naming the extra, if it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        raise BadInput(
            f"{what} needs {package.partition('.')[0]}: pip install "
            f"'simbias[{extra}]'. Without it, let what starts your programs call "
            "`simbias worker`."
        ) from None


def check_count(**counts: int) -> None:
    """Refuse numbers of workers and of what each one gets that are none.

    Raises:
        ValueError: naming the number.
    """
    for name, count in counts.items():
        least = 0 if name in ("gpus", "requeues") else 1
        if count < least:
            kind = "not be negative" if least == 0 else "be positive"
            raise BadInput(f"`{name}` must {kind}, got {count}. Example: 4.")


def cores_of_each(count: int, there: int | None = None) -> int:
    """Cores of a worker unless you say: 4, or its part of those that there are."""
    if there is None:
        return _CORES
    return max(1, min(_CORES, there // count))
