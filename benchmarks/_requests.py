"""What blocks, workers and runs ask of an object store, and how workers share one."""

import collections
import contextlib
import dataclasses
import itertools
import sys
import threading

import numpy as np
import obstore
from _stores import sized, tiny
from _tally import Tally

from simbias.ensemble.events import Outcome
from simbias.ensemble.plan import make_plan
from simbias.ensemble.table import Table, empty_table
from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes
from simbias.store import address, blocks, layout, work
from simbias.store.lease import Leases

_REQUESTS = {
    kind: [f for f in (kind, f"{kind}_async") if hasattr(obstore, f)]
    for kind in ("put", "get", "head", "list", "delete")
}


class Requests:
    """Requests to object stores by phase and kind, while it is entered."""

    def __init__(self, phase: str = ""):
        self.counts = collections.Counter()
        self.phase = phase
        self._mine = threading.local()
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Requests":
        for kind, names in _REQUESTS.items():
            for name in names:
                self._replace(obstore, name, self._asking(kind, getattr(obstore, name)))
        for name in ("_claim", "_commit"):
            within = self._within(name.strip("_"), getattr(blocks.Blocks, name))
            self._replace(blocks.Blocks, name, within)
        return self

    def __exit__(self, *_) -> None:
        self._undo.close()

    def _asking(self, kind: str, inner):
        def outer(*arguments, **options):
            phase = vars(self._mine).get("phase") or self.phase
            self.counts[phase, kind] += 1
            return inner(*arguments, **options)

        return outer

    def _within(self, phase: str, inner):
        def outer(*arguments):
            # A claim may commit: what it takes over can be complete.
            before = vars(self._mine).get("phase")
            self._mine.phase = phase
            try:
                return inner(*arguments)
            finally:
                self._mine.phase = before

        return outer

    def _replace(self, owner, name: str, new) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, new)


def requests() -> dict:
    """Requests of one worker alone: of each block, and of the run.

    Two runs differ in the number of blocks; what differs between them is the blocks'.
    """
    found, sizes = [], (2, 6)
    for size in sizes:
        experiment = dataclasses.replace(
            threshold.experiment("smoke", n=8, m=8, d=2, n_test=10),
            flow=Descent(),
            times=(0.0, 1.0),
            seeds=8 * size,
        )
        with exact_numerics():
            plan = make_plan(experiment)
        with Requests("prepare") as asked:
            where = address.place_at(f"memory://requests/{size}/run.zarr")
            store = work.prepare(where, plan, attributes(plan))
            asked.phase = "work"
            work.work(plan, store)
            asked.phase = "read"
            work.complete(store)
        found.append(asked.counts)
    block, once = collections.defaultdict(dict), collections.defaultdict(dict)
    for phase, kind in sorted({*found[0], *found[1]}):
        few, many = (counts[phase, kind] for counts in found)
        slope = (many - few) / (sizes[1] - sizes[0])
        block[phase][kind] = slope
        once[phase][kind] = few - slope * sizes[0]
    arrays = sum(len(columns) for columns in empty_table(plan, 1).groups().values())
    return {"arrays": arrays, "per_block": block, "once": once}


_SHARED = [(1000, 1), (1000, 10), (1000, 30), (1000, 100), (3000, 100)]
_names = itertools.count()


class Marked(layout.Store):
    """A store that writes of a block only that it is written."""

    def commit(self, block: int, table: Table) -> None:  # noqa: ARG002
        self._status(block).write(b"1")


def sharing(is_smallest: bool) -> list[dict]:
    """Requests per block of workers that take turns, one block each.

    Once as they are, once if they never looked at what others have.
    """
    rows = []
    cases = [(40, 1), (40, 4)] if is_smallest else _SHARED
    for (count, workers), looks in itertools.product(cases, (True, False)):
        with Requests() as asked, sized(1), looking(looks):
            turns, tries = in_turns(count, workers, asked)
        claims = sum(n for (phase, _), n in asked.counts.items() if phase == "claim")
        lists = sum(n for (phase, _), n in asked.counts.items() if phase == "take")
        rows.append(
            {
                "blocks": count,
                "workers": workers,
                "looks_at_others": looks,
                "turns": turns,
                "tries_per_block": tries / count,
                "requests_per_block": claims / count,
                "lists_per_worker": lists / workers,
            }
        )
    return rows


@contextlib.contextmanager
def looking(looks: bool):
    before = blocks._TRIES
    blocks._TRIES = before if looks else sys.maxsize
    try:
        yield
    finally:
        blocks._TRIES = before


def in_turns(count: int, workers: int, asked: Requests) -> tuple[int, int]:
    """All blocks of a store by workers in turn; turns, and blocks that were tried."""
    plan = make_plan(tiny(count))
    where = address.place_at(f"memory://sharing/{next(_names)}")
    found = work.prepare(where, plan, attributes(plan))
    store = Marked(found.place, found.attributes, found.watch)
    outcome = Outcome(
        0,
        layout.Status.REACHED_TIME,
        1.0,
        {name: 0 for name in plan.stats},
        {"train_risk": np.zeros(1)},
        {},
        {},
    )
    with contextlib.ExitStack() as held, Tally() as tally:
        tally.watch(blocks.Blocks, "_claim", "claim")
        everyone = [
            blocks.Blocks(plan, store, held.enter_context(Leases(store.work)))
            for _ in range(workers)
        ]
        tally.counts.clear()
        for one in everyone:
            one.missing()
        for turn in itertools.count(1):
            asked.phase = "take"
            taken = [(one, one.take(0)) for one in everyone]
            asked.phase = "commit"
            if all(task is None for _, task in taken):
                return turn - 1, tally.counts["claim"]
            for one, task in taken:
                if task is not None:
                    one.receive(dataclasses.replace(outcome, member=task.member))
    raise AssertionError
