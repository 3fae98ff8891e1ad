"""Runs the members of a plan: lanes in rounds, harvest and refill.

A *station* is one thread that drives one device: it holds a fixed number of lanes,
advances them a round at a time, hands over those that finished and fills their places
from the queue.  A CPU gets one station per core, an accelerator one.  Nothing a member
computes depends on which station or lane it was in, or on its companions.
"""

import contextlib
import dataclasses
import functools
import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import Status
from simbias.ensemble.grid import member_key
from simbias.ensemble.lane import Lane, Layout, advance_all, start
from simbias.ensemble.plan import Group, Plan, bytes_per_lane, draw, member_flow

# A round lasts about this long: short enough for the progress bar and for Ctrl-C,
# long enough that the host costs little.
_ROUND_SECONDS = 0.5
_FIRST_ATTEMPTS = 16
_MAX_LANES = 4096


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A finished member, on the host."""

    member: int
    status: Status
    time: float
    stats: dict[str, int]
    records: dict[str, np.ndarray]
    final: dict[str, np.ndarray]
    network: Any


@dataclasses.dataclass
class Progress:
    """What the stations are at; read by whoever draws the bar."""

    attempts: int = 0
    compiled: int = 0


def run_members(
    plan: Plan,
    members: set[int],
    *,
    lanes: int | None = None,
    devices: list[jax.Device] | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """Every member asked for, as it finishes; the order is not the numbering.

    Closing the iterator stops the stations after their current round.
    """
    if not members:
        return
    devices = list(devices or jax.local_devices())
    progress = progress or Progress()
    queues = [
        (group, _queue(m for m in group.members if m in members))
        for group in plan.groups
    ]
    programs = _Programs(plan, devices[0].platform, progress)
    outcomes: queue.Queue = queue.Queue(maxsize=4096)
    stopping = threading.Event()
    threads = [
        threading.Thread(
            target=_drive,
            args=(
                programs,
                device,
                # Each begins with another shape, so that these compile side by side.
                queues[i % len(queues) :] + queues[: i % len(queues)],
                lanes,
                outcomes,
                stopping,
                progress,
            ),
            daemon=True,
        )
        for i, device in enumerate(_stations(devices, len(members)))
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(len(members)):
            outcome = outcomes.get()
            if isinstance(outcome, Exception):
                raise RuntimeError("a member could not be computed") from outcome
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    finally:
        stopping.set()
        for thread in threads:
            while thread.is_alive():
                with contextlib.suppress(queue.Empty):
                    outcomes.get(timeout=0.05)
            thread.join()


@contextlib.contextmanager
def exact_numerics() -> Iterator[None]:
    """64-bit types and full-precision products, for the calling thread only."""
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


class _Programs:
    """The compiled programs of a plan, shared by its stations."""

    def __init__(self, plan: Plan, platform: str, progress: Progress):
        experiment, recorder = plan.experiment, plan.recorder
        layout: Layout = "in turn" if platform == "cpu" else "side by side"
        self.plan = plan
        self._guard = threading.Lock()
        self._locks: dict[Any, threading.Lock] = {}
        self._ready: set[Any] = set()
        self._draws: dict[Any, Any] = {}
        self._begin = eqx.filter_jit(functools.partial(start, recorder))

        def advance(attempts: jax.Array, lanes: Lane) -> Lane:
            progress.compiled += 1  # runs when traced: once per shape
            return advance_all(recorder, lanes, attempts, layout)

        self._advance = eqx.filter_jit(advance, donate="all-except-first")
        self._place = eqx.filter_jit(_place, donate="all-except-first")
        self._take = eqx.filter_jit(_take)
        self._final = eqx.filter_jit(
            lambda lane: {
                name: measure(lane.state.network, lane.data)
                for name, measure in experiment.final.items()
            }
        )

    def begin(self, member: int) -> Lane:
        """A member at time 0."""
        plan = self.plan
        cell = plan.cell(member)
        # Floats are traced, so that a sweep over them compiles once.
        floats = {k: v for k, v in cell.arguments.items() if isinstance(v, float)}
        sizes = {k: v for k, v in cell.arguments.items() if k not in floats}
        program = self._draws.setdefault(
            tuple(sizes.items()),
            eqx.filter_jit(
                lambda key, floats: draw(plan.experiment, {**sizes, **floats}, key)
            ),
        )
        key = member_key(plan.experiment.root, cell, plan.seed(member))
        key_draw, key_flow = jax.random.split(key)
        floats = {k: jnp.asarray(v, jnp.float64) for k, v in floats.items()}
        data, network = self._once(program, (key_draw, floats), tuple(sizes.items()))
        flow = member_flow(plan.experiment, cell)
        return self._once(self._begin, (flow, network, data, key_flow), "begin")

    def place(self, i: int, lane: Lane, lanes: Lane) -> Lane:
        """`lanes` with one of them replaced."""
        return self._once(self._place, ((jnp.int32(i), lane), lanes), "place")

    def advance(self, attempts: int, lanes: Lane) -> Lane:
        """A round."""
        return self._once(self._advance, (jnp.int32(attempts), lanes), "advance")

    def take(self, i: int, lanes: Lane) -> tuple[Lane, dict[str, jax.Array]]:
        """One lane, and its final measures."""
        lane = self._once(self._take, (jnp.int32(i), lanes), "take")
        return lane, self._once(self._final, (lane,), "final")

    def _once(self, program: Any, arguments: tuple, name: Any) -> Any:
        """Call a program; of several threads that need it compiled, one compiles."""
        shapes = jax.tree.map(lambda v: (v.shape, str(v.dtype)), arguments)
        key = (name, jax.tree.structure(shapes), tuple(jax.tree.leaves(shapes)))
        if key in self._ready:
            return program(*arguments)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            out = program(*arguments)
            self._ready.add(key)
        return out


def _drive(
    programs: _Programs,
    device: jax.Device,
    queues: list[tuple[Group, "queue.SimpleQueue[int]"]],
    lanes: int | None,
    outcomes: queue.Queue,
    stopping: threading.Event,
    progress: Progress,
) -> None:
    try:
        with exact_numerics(), jax.default_device(device):
            for group, waiting in queues:
                width = lanes or _width(group, device)
                for outcome in _drive_group(
                    programs, waiting, width, stopping, progress
                ):
                    outcomes.put(outcome)
                if stopping.is_set():
                    return
    except BaseException as error:  # handed to the thread that asked
        outcomes.put(error)


def _drive_group(
    programs: _Programs,
    waiting: "queue.SimpleQueue[int]",
    width: int,
    stopping: threading.Event,
    progress: Progress,
) -> Iterator[Outcome]:
    """Rounds over the lanes of one shape until its queue is empty."""
    lanes: Lane | None = None
    places: list[int | None] = [None] * width
    attempts = _FIRST_ATTEMPTS
    while not stopping.is_set():
        for i in range(width):
            if places[i] is None and (member := _next(waiting)) is not None:
                places[i] = member
                lane = programs.begin(member)
                if lanes is None:
                    lanes = _idle(lane, width)
                lanes = programs.place(i, lane, lanes)
        if lanes is None or all(p is None for p in places):
            return
        began = time.perf_counter()
        lanes = programs.advance(attempts, lanes)
        statuses = np.asarray(lanes.state.status)
        seconds = time.perf_counter() - began
        progress.attempts += attempts * sum(p is not None for p in places)
        factor = np.clip(_ROUND_SECONDS / max(seconds, 1e-6), 0.25, 4)
        attempts = int(np.clip(attempts * factor, 1, 2**30))
        for i, member in enumerate(places):
            if member is not None and statuses[i] != Status.RUNNING:
                yield _harvest(member, *programs.take(i, lanes))
                places[i] = None


def _harvest(member: int, lane: Lane, final: dict[str, jax.Array]) -> Outcome:
    state = lane.state
    records, cursor, status, end, stats, final, network = jax.device_get(
        (
            lane.records,
            lane.cursor,
            state.status,
            state.time,
            state.stats,
            final,
            eqx.filter(state.network, eqx.is_array),
        )
    )
    status = Status(int(status))
    records = {name: np.array(rows) for name, rows in records.items()}
    if status == Status.CONVERGED:
        # At rest: what was recorded last holds for every later time.
        for rows in records.values():
            rows[cursor:] = rows[cursor - 1]
    return Outcome(
        member,
        status,
        float(end),
        {k: int(v) for k, v in stats.items()},
        records,
        {k: np.asarray(v) for k, v in final.items()},
        network,
    )


def _place(new: tuple[jax.Array, Lane], lanes: Lane) -> Lane:
    i, lane = new
    return jax.tree.map(lambda all_, one: all_.at[i].set(one), lanes, lane)


def _take(i: jax.Array, lanes: Lane) -> Lane:
    return jax.tree.map(lambda v: v[i], lanes)


def _idle(lane: Lane, width: int) -> Lane:
    """`width` lanes in which nothing runs."""
    status = jnp.int32(Status.REACHED_TIME)
    state = dataclasses.replace(lane.state, status=status)
    lane = dataclasses.replace(lane, state=state)
    return jax.tree.map(lambda v: jnp.stack([v] * width), lane)


def _stations(devices: list[jax.Device], members: int) -> list[jax.Device]:
    if devices[0].platform != "cpu":
        return devices
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    count = max(cores or os.cpu_count() or 1, len(devices))
    return [devices[i % len(devices)] for i in range(min(count, max(members, 1)))]


def _width(group: Group, device: jax.Device) -> int:
    """Lanes that fit: one at a time on a CPU, as many as half the memory elsewhere."""
    if device.platform == "cpu":
        return 1
    limit = (device.memory_stats() or {}).get("bytes_limit", 8 << 30)
    fits = int(limit / 2 // bytes_per_lane(group.lane))
    return max(1, min(group.size, fits, _MAX_LANES))


def _queue(members: Iterator[int]) -> "queue.SimpleQueue[int]":
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for member in members:
        waiting.put(member)
    return waiting


def _next(waiting: "queue.SimpleQueue[int]") -> int | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None
