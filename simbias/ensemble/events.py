"""What goes between the stations and whoever feeds them: tasks in, events out."""

import dataclasses
import queue
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import AT_REST, Status
from simbias.ensemble.lane import Lane
from simbias.ensemble.plan import Plan

Leaves = list[np.ndarray]


@dataclasses.dataclass(frozen=True)
class Task:
    """A member to run, from time 0 or from the leaves of a lane that was saved."""

    member: int
    leaves: Leaves | None = None


@runtime_checkable
class Source(Protocol):
    """Where stations get their members; called by several threads."""

    def take(self, group: int) -> Task | None:
        """The next member of a group of the plan, None if there is none to have."""

    def left(self, group: int) -> int:
        """About how many members of a group are there to have."""
        ...


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A finished member, on the host."""

    member: int
    status: Status
    time: float
    stats: dict[str, int]
    records: dict[str, np.ndarray]
    final: dict[str, np.ndarray]
    kept: dict[str, np.ndarray]


class Finished(eqx.Module):
    """What is kept of a lane whose member is finished."""

    records: dict[str, Any]
    cursor: Any
    status: Any
    time: Any
    stats: dict[str, Any]
    final: dict[str, Any]
    kept: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Members in flight, as the leaves of their lanes: all that it takes to go on."""

    lanes: Mapping[int, Leaves]


Event = Outcome | Snapshot


@dataclasses.dataclass
class Progress:
    """What the stations are at; read by whoever draws the bar.

    `compiling` holds the threads that do, or wait for another one that does, `begun`
    the numbers of the shapes whose programs are there or being compiled; `stepping`
    the seconds for which each thread has advanced its members.
    """

    compiling: set[threading.Thread] = dataclasses.field(default_factory=set)
    begun: set[int] = dataclasses.field(default_factory=set)
    stepping: dict[threading.Thread, float] = dataclasses.field(default_factory=dict)
    shapes: int = 0
    is_stopping: bool = False


class Members:
    """A source that knows all its members from the start."""

    def __init__(self, plan: Plan, members: Iterable[int]):
        wanted = set(members)
        self._waiting: list[queue.SimpleQueue[int]] = []
        for group in plan.groups:
            waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
            for member in group.members:
                if member in wanted:
                    waiting.put(member)
            self._waiting.append(waiting)

    def take(self, group: int) -> Task | None:
        """The next member of a group, in order."""
        try:
            return Task(self._waiting[group].get_nowait())
        except queue.Empty:
            return None

    def left(self, group: int) -> int:
        """Members of a group that nobody has taken."""
        return self._waiting[group].qsize()


def harvest(member: int, finished: Finished) -> Outcome:
    """A finished member, given on the host, as an outcome."""
    status, cursor = Status(int(finished.status)), int(finished.cursor)
    records = {name: np.array(rows) for name, rows in finished.records.items()}
    if status in AT_REST:
        # At rest: what was recorded last holds for every later time.
        for rows in records.values():
            rows[cursor:] = rows[cursor - 1]
    # Where a member failed is not its end.
    final_of = lambda v: np.full(v.shape, np.nan) if status.is_failure else np.array(v)
    return Outcome(
        member,
        status,
        float(finished.time),
        {k: int(v) for k, v in finished.stats.items()},
        records,
        {k: final_of(v) for k, v in finished.final.items()},
        {k: np.array(v) for k, v in finished.kept.items()},
    )


def to_host(lanes: Lane) -> Leaves:
    """The leaves of one lane or of several, as plain arrays; keys as their data."""
    return [np.array(v) for v in jax.device_get(_plain(jax.tree.leaves(lanes)))]


def fits(like: Lane, leaves: Leaves) -> bool:
    """True if the leaves are those of a lane of this shape."""
    described = jax.eval_shape(_plain, jax.tree.leaves(like))
    return len(described) == len(leaves) and all(
        one.shape == value.shape and one.dtype == value.dtype
        for one, value in zip(described, leaves, strict=True)
    )


def from_host(like: Lane, leaves: Leaves) -> Lane:
    """The lane that was saved; `like` describes it without its values."""
    described, structure = jax.tree.flatten(like)
    restored = [
        jax.random.wrap_key_data(jnp.asarray(value)) if _is_key(one) else value
        for one, value in zip(described, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, [jnp.asarray(v) for v in restored])


def _plain(leaves: list[jax.Array]) -> list[jax.Array]:
    return [jax.random.key_data(v) if _is_key(v) else v for v in leaves]


def _is_key(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
