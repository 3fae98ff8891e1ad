"""The blocks of a store as one process works on them: claimed, filled, committed."""

import collections
import itertools
import random
import threading
import warnings

import numpy as np
from jaxtyping import Bool

from simbias.ensemble.events import Leaves, Outcome, Snapshot, Task, fits
from simbias.ensemble.plan import Plan
from simbias.ensemble.table import Table, empty_table, put_rows
from simbias.store.checkpoint import load_state, run_hash, save_state
from simbias.store.layout import Store
from simbias.store.lease import Leases
from simbias.store.place import AbstractPlace, Unreachable

# After so many blocks in vain, one looks at what others have.
_TRIES = 8


class _Open:
    """A block that this process has claimed; rows are those of the block, from 0."""

    def __init__(self, members: np.ndarray, table: Table):
        self.members = members
        self.table = table
        self.done = members < 0
        self.lanes: dict[int, Leaves] = {}
        self.is_saved = True

    def is_complete(self) -> bool:
        return bool(self.done.all())


class Blocks:
    """A source of members, and where their outcomes go.

    Stations call `take` from their threads; everything else belongs to one thread.  Of
    some `wanted` members only the blocks that hold one are worked on.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        leases: Leases,
        wanted: Bool[np.ndarray, " members"] | None = None,
    ):
        self.finished = 0
        self._plan = plan
        self._store = store
        self._leases = leases
        self._rows = store.rows()
        self._numbers = np.full(int(self._rows.max()) + store.block, -1)
        self._numbers[self._rows] = np.arange(plan.size)
        self._group = np.empty(len(plan.grid.cells), int)
        for i, group in enumerate(plan.groups):
            for span in group.spans:
                self._group[span.start // plan.seeds] = i
        blocks = self._rows // store.block
        groups = np.repeat(self._group, plan.seeds)
        self._members = np.bincount(blocks)
        if wanted is not None:
            self._members[np.bincount(blocks, wanted) == 0] = 0
        self._blocks = [np.unique(blocks[groups == i]) for i in range(len(plan.groups))]
        self._guard = threading.Lock()
        self._open: dict[int, _Open] = {}
        self._waiting = [collections.deque[Task]() for _ in plan.groups]
        self._candidates = [collections.deque[int]() for _ in plan.groups]

    @property
    def size(self) -> int:
        """Members of the blocks that are worked on."""
        return int(self._members.sum())

    def missing(self) -> bool:
        """True if blocks are not written yet; those are then tried again."""
        is_left = self._members > 0
        written = [b for b in self._store.committed() if b < is_left.size]
        is_left[written] = False
        self.finished = int(self._members[~is_left].sum())
        for candidates, blocks in zip(self._candidates, self._blocks, strict=True):
            mine = blocks[is_left[blocks]]
            candidates.clear()
            if mine.size:
                # Each owner begins elsewhere, so that two seldom want the same one.
                first = int(self._leases.owner[:8], 16) % mine.size
                candidates.extend(np.roll(mine, -first).tolist())
        return bool(is_left.any())

    def take(self, group: int) -> Task | None:
        """The next member of a group, from a block that is claimed for it."""
        with self._guard:
            waiting, candidates = self._waiting[group], self._candidates[group]
            for tries in itertools.count(1):
                if waiting or not candidates:
                    break
                self._claim(candidates.popleft())
                if tries % _TRIES == 0 and not waiting:
                    self._look_elsewhere(candidates)
            return waiting.popleft() if waiting else None

    def left(self, group: int) -> int:
        """Members of a group in blocks that are claimed, or those of one block."""
        return len(self._waiting[group]) or self._store.block

    def receive(self, event: Outcome | Snapshot) -> None:
        """Note what a station hands over; a block that is complete is written."""
        if isinstance(event, Snapshot):
            for member, leaves in event.lanes.items():
                block, row = divmod(int(self._rows[member]), self._store.block)
                self._open[block].lanes[row] = leaves
                self._open[block].is_saved = False
            return
        block, row = divmod(int(self._rows[event.member]), self._store.block)
        opened = self._open[block]
        opened.table.put(event, row)
        opened.done[row] = True
        opened.lanes.pop(row, None)
        opened.is_saved = False
        self.finished += 1
        if opened.is_complete():
            self._commit(block, opened)
        pending = {
            str(i): int((o.done & (o.members >= 0)).sum())
            for i, o in list(self._open.items())
        }
        computed = self._leases.note.get("computed", 0) + 1
        self._leases.note |= {"pending": pending, "computed": computed}

    def checkpoint(self) -> None:
        """Save every block in flight that changed since it was saved."""
        for block, opened in list(self._open.items()):
            done = np.flatnonzero(opened.done & (opened.members >= 0))
            if opened.is_saved or not (done.size or opened.lanes):
                continue
            state, run = self._state(block), run_hash(self._store.attributes, block)
            self._store.check()
            try:
                save_state(state, run, opened.table, done, opened.lanes)
            except Unreachable:
                raise
            except OSError:
                self._store.check()
                # While this process slept, another may have finished the run.
                if not self._store.is_committed(block):
                    raise
            opened.is_saved = True

    def _look_elsewhere(self, candidates: collections.deque[int]) -> None:
        """Leave out what others have or had, and begin anew far from them.

        Without this every worker would try every block.  What a dead one holds is
        tried again when nothing else is left.
        """
        taken = self._store.committed() | self._leases.blocks()
        free = [block for block in candidates if block not in taken]
        random.shuffle(free)
        candidates.clear()
        candidates.extend(free)

    def _claim(self, block: int) -> None:
        store = self._store
        if block in self._open or store.is_committed(block):
            return
        if not self._leases.claim(str(block)):
            return
        if store.is_committed(block):
            self._leases.release(str(block))
            return
        first = block * store.block
        members = self._numbers[first : first + store.block]
        opened = _Open(members, empty_table(self._plan, store.block))
        self._restore(opened, block)
        self._open[block] = opened
        if opened.is_complete():
            self._commit(block, opened)
            return
        for row in np.flatnonzero(~opened.done):
            member = int(members[row])
            task = Task(member, opened.lanes.get(int(row)))
            self._waiting[self._group_of(member)].append(task)

    def _restore(self, opened: _Open, block: int) -> None:
        """Take over what an earlier owner of the block has saved."""
        place = self._state(block)
        try:
            run = run_hash(self._store.attributes, block)
            state = load_state(place, run, self._store.block)
            put_rows(opened.table, state.done, state.columns)
        except FileNotFoundError:
            return
        except (ValueError, OSError, KeyError, IndexError) as error:
            warnings.warn(f"{error}. Its block is computed again.", stacklevel=2)
            place.clear()  # what is a folder would be in the way
            return
        opened.done[state.done] = True
        self.finished += state.done.size
        for row, leaves in state.lanes.items():
            group = self._plan.groups[self._group_of(int(opened.members[row]))]
            if fits(group.lane, leaves):
                opened.lanes[row] = leaves

    def _commit(self, block: int, opened: _Open) -> None:
        self._store.commit(block, opened.table)
        self._store.check()
        self._state(block).delete()
        self._leases.release(str(block))
        del self._open[block]

    def _group_of(self, member: int) -> int:
        return int(self._group[member // self._plan.seeds])

    def _state(self, block: int) -> AbstractPlace:
        return self._store.work / "states" / str(block)
