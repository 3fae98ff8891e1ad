"""How far a run is and who is at it, from its store alone; nothing is written."""

import dataclasses
import itertools
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simbias.core import Status
from simbias.store._columns import STATUS
from simbias.store.block_states import block_states
from simbias.store.layout import Store
from simbias.store.lease import heartbeats, is_gone, pending
from simbias.store.room import result_bytes
from simbias.store.time_taken import Failure, failures

# A worker that was not heard of for so long is not taken for one at work.
SILENT_SECONDS = 45.0
# No number in a heartbeat is as large.
_MOST = 2**53


@dataclasses.dataclass(frozen=True)
class Owner:
    """A worker by its last heartbeat, which nobody removes after `kill -9`."""

    machine: str
    process: int
    state: str
    """`at work`, `silent`, or `gone` where it was on this machine, as one can tell."""
    seconds_ago: float | None
    """Since the heartbeat, by the clock of this machine and that of the worker."""
    computed: int
    """Members, since it began."""
    rate: float
    """Members a second, since it began."""
    pending: int
    """Members that are done, of the blocks that it is at."""
    compiling: int
    """Number of the shape that it compiles, 0 if it does not."""
    shapes: int


@dataclasses.dataclass(frozen=True)
class Progress:
    """Numbers of a run; they are the same for a folder and a bucket."""

    run: str
    experiment: str
    members: int
    done: int
    """Those that are written, or that a worker has said are done."""
    failed: int
    """Of those that are written or saved."""
    statuses: dict[str, int]
    """Of those that are written or saved, by status."""
    blocks: int
    blocks_done: int
    blocks_claimed: int
    """Blocks that somebody holds, dead or alive."""
    workers: tuple[Owner, ...]
    rate: float
    """Members a second, of all that are at work, since each of them began."""
    seconds_left: float | None
    """At that rate; None if it is not known, 0 for a finished run."""
    result_bytes: int
    """Of the whole result, not compressed."""
    errors: tuple[Failure, ...]
    """That have ended a worker, the last one last."""

    @property
    def is_finished(self) -> bool:
        """Whether every block is written."""
        return self.blocks_done == self.blocks


def progress_of(store: Store, now: float | None = None) -> Progress:
    """Where a run stands.

    Args:
        store: of the run, opened lately if it may have grown.
        now: seconds since 1970, for the age of heartbeats.

    Raises:
        OSError: if the store does not answer.
    """
    now = time.time() if now is None else now
    beats = [beat for beat in heartbeats(store.work) if "process" in beat]
    workers = tuple(_owner(beat, now) for beat in beats)
    committed, blocks = store.committed(), store.attributes["extents"][-1]["blocks"]
    statuses, rows = store.statuses(), store.rows()
    numbers = np.full(blocks * store.block, -1)
    numbers[rows] = np.arange(rows.size)
    for block, state in block_states(store, committed):
        found = numbers[block * store.block + state.done]
        statuses[found[found >= 0]] = state.columns[STATUS][found >= 0]
    is_done = statuses != Status.RUNNING
    is_at_work = [worker.state == "at work" for worker in workers]
    said = itertools.compress(beats, is_at_work)
    members = np.bincount(rows // store.block)
    stored = np.bincount(rows[is_done] // store.block, minlength=members.size)
    done = int(np.maximum(stored, _in_flight(said, members)).sum())
    rate = sum((one.rate for one in itertools.compress(workers, is_at_work)), start=0.0)
    left = (rows.size - done) / rate if rate else None
    names = (store.work / "leases").files()
    leased = {int(n) for n in names if n.isdecimal() and n.isascii()} - committed
    return Progress(
        run=str(store.place.parent),
        experiment=store.attributes["configuration"]["name"],
        members=rows.size,
        done=done,
        failed=int(np.isin(statuses, [s for s in Status if s.is_failure]).sum()),
        statuses={s.name: n for s in Status if (n := int((statuses == s).sum()))},
        blocks=blocks,
        blocks_done=len(committed),
        blocks_claimed=len(leased),
        workers=workers,
        rate=rate,
        seconds_left=0.0 if len(committed) == blocks else left,
        result_bytes=result_bytes(store.attributes),
        errors=tuple(failures(store)),
    )


def finished_so_far(store: Store, members: np.ndarray) -> int:
    """Members that are done, also those of blocks in flight, as workers say.

    Args:
        store: that workers are at.
        members: how many each block holds.
    """
    beats = heartbeats(store.work)
    done = _in_flight(beats, members)
    written = [block for block in store.committed() if block < members.size]
    done[written] = members[written]
    return int(done.sum())


def _in_flight(beats: Iterable[Mapping[str, Any]], members: np.ndarray) -> np.ndarray:
    """Members of each block that are done, as workers say.

    A heartbeat may be old: of a block that was written since, or that another worker
    has taken over.  So what is known of a block is compared and never added.
    """
    most = np.zeros_like(members)
    for beat in beats:
        for block, done in pending(beat).items():
            if block < members.size:
                most[block] = max(most[block], min(done, members[block]))
    return most


def _owner(beat: Mapping[str, Any], now: float) -> Owner:
    """Anybody may have written the heartbeat: what is no number counts as none."""
    number = lambda key: n if type(n := beat.get(key)) is int and 0 < n < _MOST else 0
    ago = now - number("at") if number("at") else None
    state = "at work" if ago is not None and ago < SILENT_SECONDS else "silent"
    machine = beat.get("machine")
    name = machine.partition(" ")[0] if isinstance(machine, str) else ""
    computed, seconds = number("computed"), number("seconds")
    return Owner(
        machine=name if name.isprintable() and name else "unknown",
        process=number("process"),
        state="gone" if is_gone(dict(beat)) else state,
        seconds_ago=ago,
        computed=computed,
        rate=computed / seconds if seconds else 0.0,
        pending=sum(pending(beat).values()),
        compiling=number("compiling"),
        shapes=number("shapes"),
    )
