"""Runs the members of a plan: lanes in rounds, harvest and refill.

A *station* is one thread that drives one device: it holds a fixed number of lanes,
advances them a round at a time, hands over those that finished and fills their places
from the source.  A CPU gets one station per core, an accelerator one.  Nothing a member
computes depends on which station or lane it was in, on its companions, or on whether
its lane was saved and restored in between.
"""

import dataclasses
import queue
import threading
import time
from collections.abc import Iterator

import jax
import numpy as np

from simbias.core import Status
from simbias.ensemble.abandoned_threads import abandon
from simbias.ensemble.cause import cause
from simbias.ensemble.events import (
    Event,
    Members,
    Outcome,
    Progress,
    Snapshot,
    Source,
    harvest,
    to_host,
)
from simbias.ensemble.lane import Lane
from simbias.ensemble.lanes import idle
from simbias.ensemble.memory import lanes_that_fit, station_devices
from simbias.ensemble.pace import Pace
from simbias.ensemble.plan import Plan
from simbias.ensemble.programs import Programs, Seat
from simbias.errors import BadInput
from simbias.numerics.exact_numerics import exact_numerics

_TICK_SECONDS = 0.2
_REFUSED = f"{BadInput.__name__}: "


@dataclasses.dataclass(frozen=True)
class _Ended:
    """A station has stopped, because of an error or because nothing was left."""

    thread: threading.Thread
    error: BaseException | None = None


class Stations:
    """The stations of one process, as a context: leaving it stops them all.

    `snapshot_seconds` is how often a station hands over a copy of its lanes, which it
    also does when it is stopped; None is never.  It may be changed while they run.
    `first` is the group of members that the first station begins with.
    """

    def __init__(
        self,
        programs: Programs,
        source: Source,
        devices: list[jax.Device],
        *,
        lanes: int | None = None,
        snapshot_seconds: float | None = None,
        first: int = 0,
    ):
        self.programs = programs
        self.source = source
        self.lanes = lanes
        self.first = first
        self.snapshot_seconds = snapshot_seconds
        self._stopping = threading.Event()
        self._events: queue.Queue[Event | _Ended] = queue.Queue(maxsize=4096)
        self._threads = [
            threading.Thread(target=self._drive, args=(i, device), daemon=True)
            for i, device in enumerate(devices)
        ]
        # Threads that have not ended, and those whose members have moved since they
        # were last handed over.
        self._at_work: set[threading.Thread] = set()
        self._moved: set[threading.Thread] = set()

    def __enter__(self) -> "Stations":
        for thread in self._threads:
            self._at_work.add(thread)
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        try:
            for _event in self.drain():
                pass
        finally:  # a second Ctrl-C does not wait for anybody
            abandon(self._at_work)
        for thread in set(self._threads) - self._at_work:
            thread.join()

    def stop(self) -> None:
        """Ask every station to end after its current round.

        One that compiles, which nothing can interrupt, is not waited for, unless its
        members have moved since they were last handed over.
        """
        self._stopping.set()

    def drain(self) -> Iterator[Event]:
        """Stop, and what still happens; later errors follow from the first."""
        self.stop()
        for event in self._received():
            if event is not None and not isinstance(event, _Ended):
                yield event

    def events(self) -> Iterator[Event | None]:
        """What happens, until every station has ended; None when nothing did lately.

        Raises:
            RuntimeError: if a network could not be computed.
            ValueError: if its sample is wrong, or was refused as it was drawn.
        """
        for event in self._received():
            if not isinstance(event, _Ended):
                yield event
            elif isinstance(event.error, (OSError, ValueError)):
                raise event.error
            elif isinstance(event.error, Exception):
                why = cause(event.error)
                if _REFUSED in why:  # inside a callback, which says so in words only
                    raise BadInput(why.partition(_REFUSED)[2]) from None
                raise RuntimeError(
                    f"a network could not be computed: {why}"
                ) from event.error
            elif event.error is not None:
                raise event.error

    def _received(self) -> Iterator[Event | _Ended | None]:
        """What happens, and every now and then None, while there is who to wait for."""
        while self._at_work:
            # Asked before the queue is: what it holds afterwards is all there will be.
            is_over = self._stopping.is_set() and not self._awaited()
            try:
                event = self._events.get(timeout=0 if is_over else _TICK_SECONDS)
            except queue.Empty:
                if is_over:
                    return
                yield None
                continue
            if isinstance(event, _Ended):
                self._at_work.discard(event.thread)
            yield event

    def _awaited(self) -> set[threading.Thread]:
        """Threads that a stop waits for."""
        return self._at_work - (self.programs.progress.compiling - self._moved)

    def _drive(self, station: int, device: jax.Device) -> None:
        error = None
        try:
            with exact_numerics(), jax.default_device(device):
                while self._pass(station, device):
                    pass
        except BaseException as raised:  # handed to the thread that asked
            error = raised
        self._events.put(_Ended(threading.current_thread(), error))

    def _pass(self, station: int, device: jax.Device) -> bool:
        """Every group once; False if there was nothing to do, or no time left."""
        groups = self.programs.plan.groups
        worked = False
        for k in range(len(groups)):
            # Each begins with another shape, so that these compile side by side.
            group = (self.first + station + k) % len(groups)
            width = self.lanes or lanes_that_fit(groups[group], device)
            worked |= self._drive_group(group, width)
            if self._stopping.is_set():
                return False
        return worked

    def _drive_group(self, group: int, width: int) -> bool:
        """Rounds over the lanes of one shape until its source is dry.

        Returns:
            Whether there were any; False, too, if the stations were stopped.
        """
        programs, pace, me = self.programs, Pace(), threading.current_thread()
        lanes: Lane | None = None
        places: list[int | None] = [None] * width
        saved = time.monotonic()
        while not self._stopping.is_set():
            lanes = self._fill(group, places, lanes, pace)
            if lanes is None or all(p is None for p in places):
                return lanes is not None
            if self._stopping.is_set():
                break
            stepping = programs.progress.stepping
            before = stepping.get(me, 0.0)
            lanes = programs.advance(pace.attempts, lanes)
            statuses = np.asarray(lanes.state.status)
            seconds = stepping.get(me, 0.0) - before
            self._moved.add(me)
            taken = _taken(places)
            ended = [i for i in taken if statuses[i] != Status.RUNNING]
            is_spent = bool((statuses == Status.RUNNING).any())
            pace.after(seconds, len(ended), is_spent)
            for i, finished in zip(ended, programs.take(ended, lanes), strict=True):
                self._events.put(harvest(taken[i], finished))
                places[i] = None
            pause = self.snapshot_seconds
            if pause is not None and time.monotonic() - saved >= pause:
                self._events.put(_snapshot(places, lanes))
                saved = time.monotonic()
                self._moved.discard(me)
            if not _taken(places):
                self._moved.discard(me)
        if lanes is not None and self.snapshot_seconds is not None:
            self._events.put(_snapshot(places, lanes))
        self._moved.discard(me)
        return False

    def _fill(
        self, group: int, places: list[int | None], lanes: Lane | None, pace: Pace
    ) -> Lane | None:
        """Members for the places that are free, or for as many as fill a round."""
        programs, room = self.programs, len(places)
        is_free = self.lanes is not None or programs.layout == "side by side"
        if not is_free:
            # A fair part of what is left, in case what comes is longer than what went.
            fair = self.source.left(group) // (2 * len(self._threads))
            room = 0 if _taken(places) else min(pace.members, max(1, fair))
        free = [i for i, member in enumerate(places) if member is None][:room]
        fresh: list[Seat] = []
        is_first = lanes is None
        for i in free:
            # Nobody may wait for who compiles, who then must not claim any more.
            if self._stopping.is_set() or (task := self.source.take(group)) is None:
                break
            places[i] = task.member
            programs.progress.begun.add(group)
            if lanes is None:
                lanes = idle(programs.plan.groups[group].lane, len(places))
                lanes = programs.prepare(lanes)
            if task.leaves is None:
                fresh.append((task.member, i))
            else:
                lane = programs.resume(group, task.leaves)
                lanes = programs.place(i, lane, lanes)
        if lanes is not None and fresh:
            lanes = programs.begin(fresh, lanes)
        if lanes is not None and is_first and programs.layout == "side by side":
            lanes = programs.spread(places, lanes)
        return lanes


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
    devices = jax.local_devices() if devices is None else devices
    programs = Programs(plan, devices[0].platform, progress or Progress())
    stations = Stations(
        programs,
        Members(plan, members),
        station_devices(devices, len(members)),
        lanes=lanes,
    )
    with stations:
        for event in stations.events():
            if isinstance(event, Outcome):
                yield event


def _taken(places: list[int | None]) -> dict[int, int]:
    """Places that hold a member, and which."""
    return {i: member for i, member in enumerate(places) if member is not None}


def _snapshot(places: list[int | None], lanes: Lane) -> Snapshot:
    leaves = to_host(lanes)
    return Snapshot(
        {
            member: [np.array(v[i]) for v in leaves]
            for i, member in enumerate(places)
            if member is not None
        }
    )
