"""How does a run grow with its workers, and what would a thousand of them cost?

    python benchmarks/scaling.py [--json FILE|-] [--part NAME ...] [--smallest]

workers   one and two processes of `simbias worker` on one store, one core each, the
          same members, cheap ones and dear ones; and one that has no store
requests  what a block, a worker and a run ask of an object store, counted
sharing   how often workers try a block that another one has, counted for up to a
          hundred that take turns
records   what is done once per block by whoever opens, lists or reads the store,
          timed for many blocks that were written without computing them
host      how much of a run's time is spent outside its compiled rounds
model     from these numbers to a thousand workers and ten million members; what an
          object store sustains is a parameter of it, not a measurement
"""

import argparse
import collections
import contextlib
import dataclasses
import inspect
import itertools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import jax
import numpy as np
import obstore
import zarr

from simbias import cli
from simbias.cli import _run
from simbias.configuration import provenance
from simbias.core import Experiment
from simbias.ensemble import engine
from simbias.ensemble.bar import Bar
from simbias.ensemble.events import Members, Outcome
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.ensemble.table import Table, empty_table
from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures.train_risk import TrainRisk
from simbias.results import attributes, to_xarray
from simbias.simulate import simulate
from simbias.store import address, blocks, layout, making, work
from simbias.store.folder import Folder
from simbias.store.lease import Leases

# Options of `simbias run threshold --preset smoke`: members of a few milliseconds,
# most of them the host's, and members of a good part of a second.
_SMALL = "--cell.d 2 --cell.n-test 10 --flow.name descent --times 0 1"
CASES = {
    "cheap": f"--cell.n 8 --cell.m 8 --seeds 4096 {_SMALL}",
    "dear": "--cell.n 110 --cell.m 200 --times 0 10 100 1000 --seeds 96",
}
_SMALLEST = {"cheap": f"--cell.n 8 --cell.m 8 --seeds 32 {_SMALL}"}
# Requests per second that are documented as sustained, and the time of one:
# AWS, "Best practices design patterns: optimizing Amazon S3 performance", per
# partitioned prefix, where a new rate is reached within minutes; Google Cloud,
# "Request rate and access distribution guidelines", per bucket at the start; Microsoft,
# "Scalability targets for standard storage accounts", per account, of any kind.  The
# latency is what AWS names for small objects, 100 to 200 ms, for all of them.
STORES = {
    "S3": {"writes": 3500, "reads": 5500, "latency": 0.1},
    "Google Cloud Storage": {"writes": 1000, "reads": 5000, "latency": 0.1},
    "Azure": {"requests": 20_000, "latency": 0.1},
}
_PAGE = 1000  # names in one answer to a list request, of all three
# AWS names PUT, COPY, POST and DELETE beside GET and HEAD; lists count as reads.
_WRITES, _READS = ("put", "delete"), ("get", "head", "list")
_HERE = pathlib.Path(__file__).resolve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", default="-")
    parts = ("workers", "requests", "sharing", "records", "host")
    parser.add_argument("--part", nargs="*", choices=parts, default=parts)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if options.worker:
        as_worker(*options.worker)
        return
    document = {
        "cores": os.cpu_count(),
        "load_before": [round(v, 2) for v in os.getloadavg()],
        **provenance(),
    }
    made = {
        "workers": lambda: scaling(options.smallest, options.repeats),
        "requests": requests,
        "sharing": lambda: sharing(options.smallest),
        "records": lambda: records(options.smallest),
        "host": lambda: host(options.smallest, options.repeats),
    }
    with compile_cache():
        for part in options.part:
            document[part] = made[part]()
            print(json.dumps({part: document[part]}), flush=True, file=sys.stderr)
    if set(options.part) == set(parts):
        document["model"] = model(document)
    text = json.dumps(document, indent=1)
    if options.json == "-":
        print(text)
    else:
        pathlib.Path(options.json).write_text(text + "\n")


@contextlib.contextmanager
def compile_cache():
    """Compiled programs are kept for this process and its workers, and then removed."""
    with tempfile.TemporaryDirectory() as folder:
        least = "jax_persistent_cache_min_compile_time_secs"
        for name, value in {"jax_compilation_cache_dir": folder, least: 0}.items():
            jax.config.update(name, value)
            os.environ[name.upper()] = str(value)
        yield


class Tally:
    """How often functions were called, and for how long, by label.

    Start-up is apart: what a call spends in tracing, compiling or loading programs
    counts under "compile" and under no other label.
    """

    def __init__(self):
        self.counts = collections.Counter()
        self.seconds = collections.Counter()
        self.first, self.last = {}, {}
        self._guard = threading.Lock()
        self._mine = threading.local()
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Tally":
        inner = Programs._compiling

        @contextlib.contextmanager
        def outer(programs):
            began = time.monotonic()
            with inner(programs):
                yield
            self.add("compile", time.monotonic() - began)
            self._mine.compiled = self._compiled() + time.monotonic() - began

        self._replace(Programs, "_compiling", outer)
        return self

    def __exit__(self, *_) -> None:
        self._undo.close()

    def add(self, label: str, seconds: float) -> None:
        with self._guard:
            self.counts[label] += 1
            self.seconds[label] += seconds
            self.last[label] = time.monotonic()
            # What is compiled later is start-up as well.
            compiled = self.seconds["compile"]
            self.first.setdefault(label, self.last[label] - compiled)

    def watch(self, owner, name: str, label: str, *, waits: bool = False) -> None:
        """Replace a function by one that is counted and timed, and `waits` if asked."""
        inner = getattr(owner, name)

        def outer(*arguments, **options):
            began, compiled = time.monotonic(), self._compiled()
            try:
                out = inner(*arguments, **options)
                return jax.block_until_ready(out) if waits else out
            finally:
                compiled = self._compiled() - compiled
                self.add(label, time.monotonic() - began - compiled)

        async def later(*arguments, **options):
            began = time.monotonic()
            try:
                return await inner(*arguments, **options)
            finally:
                self.add(label, time.monotonic() - began)

        is_async = inspect.iscoroutinefunction(inner)
        self._replace(owner, name, later if is_async else outer)

    def _replace(self, owner, name: str, new) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, new)

    def _compiled(self) -> float:
        return getattr(self._mine, "compiled", 0.0)


# --- workers --------------------------------------------------------------------------

_OPERATIONS = ("read", "write", "create", "swap", "delete", "exists", "files")


def as_worker(where: str, core: str, kind: str) -> None:
    """What one process does, and what it notes: a worker, or the same in memory."""
    imported = time.monotonic() - float(os.environ["SPAWNED"])
    folder = pathlib.Path(where)
    with Tally() as tally:
        tally.watch(Programs, "advance", "advance", waits=True)
        tally.watch(_run, "_plan", "plan")
        tally.watch(_run, "work", "work")
        tally.watch(blocks.Blocks, "_claim", "claim")
        tally.watch(blocks.Blocks, "_commit", "commit")
        tally.watch(blocks.Blocks, "checkpoint", "checkpoint")
        tally.watch(blocks.Blocks, "missing", "missing")
        for name in _OPERATIONS:
            tally.watch(Folder, name, f"place {name}")
        tally.watch(zarr.storage.LocalStore, "get", "zarr get")
        tally.watch(zarr.storage.LocalStore, "set", "zarr set")
        tally.watch(os, "fsync", "fsync")
        if kind == "memory":
            in_memory(folder, tally)
        else:
            with contextlib.suppress(SystemExit):
                cli.main(["worker", where, "--quiet"])
    note = {
        "imported": imported,
        "counts": tally.counts,
        "seconds": tally.seconds,
        "begun": tally.first["advance"] + tally.seconds["compile"],
        "work_ended": tally.last["work"],
        "committed": tally.last.get("commit", tally.last["work"]),
    }
    (folder / f"note-{core}.json").write_text(json.dumps(note))


def in_memory(folder: pathlib.Path, tally: Tally) -> None:
    _, store = _run.found_run(str(folder))
    plan = _run._plan(_run._recipe(store), None)
    table, began = empty_table(plan), time.monotonic()
    for outcome in engine.run_members(plan, set(range(plan.size))):
        table.put(outcome, outcome.member)
    tally.add("work", time.monotonic() - began)


def scaling(is_smallest: bool, repeats: int) -> list[dict]:
    cases = _SMALLEST if is_smallest else CASES
    repeats = 1 if is_smallest else repeats
    cores = sorted(os.sched_getaffinity(0))
    counts = [1, 2] if len(cores) > 1 and not is_smallest else [1]
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for name, options in cases.items():
            fresh = pathlib.Path(folder) / name
            line = ["run", "threshold", "--preset", "smoke", *options.split()]
            with contextlib.suppress(SystemExit):
                cli.main([*line, "--workers", "0", "--out", str(fresh)])
            if not is_smallest:
                together(fresh, cores[:1], "worker")  # compiles, for all that follow
            runs = collections.defaultdict(list)
            for _ in range(repeats):
                if not is_smallest:
                    runs["memory"].append(together(fresh, cores[:1], "memory"))
                for count in counts:
                    runs[count].append(together(fresh, cores[:count], "worker"))
            out.append({"case": name, "options": options, **compared(fresh, runs)})
    return out


def together(fresh: pathlib.Path, cores: list[int], kind: str) -> list[dict]:
    """Workers on a copy of a run, one on each core; what they noted."""
    folder = fresh.with_name("copy")
    shutil.copytree(fresh, folder)
    workers, mine = [], os.sched_getaffinity(0)
    for core in cores:
        command = [sys.executable, str(_HERE), "--worker", str(folder), str(core), kind]
        here = {"PYTHONPATH": str(_HERE.parent.parent)}
        here["SPAWNED"] = str(time.monotonic())
        os.sched_setaffinity(0, {core})  # which a child inherits
        workers.append(subprocess.Popen(command, env={**os.environ, **here}))
        os.sched_setaffinity(0, mine)
    codes = [worker.wait() for worker in workers]
    if any(codes):
        raise RuntimeError(f"a worker ended with {codes}")
    notes = [json.loads((folder / f"note-{c}.json").read_text()) for c in cores]
    shutil.rmtree(folder)
    return notes


def compared(fresh: pathlib.Path, runs: dict) -> dict:
    store = layout.open_store(fresh / "run.zarr")
    members = len(store.rows())
    count = store.attributes["extents"][-1]["blocks"]
    shown = {"members": members, "blocks": count, "block": store.block, "runs": []}
    medians = {}
    for which, several in runs.items():
        rows = [one_run(notes) for notes in several]
        row = {key: float(np.median([r[key] for r in rows])) for key in rows[0]}
        medians[which] = row["seconds"]
        row["members_per_second"] = members / row["seconds"]
        row["each"] = [r["seconds"] for r in rows]
        shown["runs"].append({"workers": which, **row})
    for count in (w for w in medians if isinstance(w, int) and w > 1):
        pairs = zip(runs[1], runs[count], strict=True)
        each = [
            one_run(a)["seconds"] / (count * one_run(b)["seconds"]) for a, b in pairs
        ]
        shown["efficiency"] = float(np.median(each))
    if "memory" in medians:
        shown["share_of_store"] = 1 - medians["memory"] / medians[1]
    shown["per_block"] = per_block(runs[1][-1][0], shown["blocks"])
    return shown


def one_run(notes: list[dict]) -> dict[str, float]:
    """Seconds of one run, from the first round to the last block that is written."""
    compiled = [note["seconds"].get("compile", 0.0) for note in notes]
    end = max(note["committed"] for note in notes)
    seconds = end - float(np.mean([note["begun"] for note in notes]))

    def share(*labels: str) -> float:
        spent = sum(
            note["seconds"].get(label, 0.0) for note in notes for label in labels
        )
        return spent / (seconds * len(notes))

    return {
        "seconds": seconds,
        "startup_import": float(np.mean([note["imported"] for note in notes])),
        "startup_plan": float(np.mean([note["seconds"]["plan"] for note in notes])),
        "startup_compile": float(np.mean(compiled)),
        "share_rounds": share("advance"),
        # A claim holds up its station; commits are written beside what is computed.
        "share_claims": share("claim"),
        "share_commits": share("commit", "checkpoint"),
        "share_lists": share("missing"),
        "last_worker_leaves_after": max(note["work_ended"] for note in notes) - end,
    }


def per_block(note: dict, count: int) -> dict:
    """Operations of one worker on a folder, per block, and what each takes."""
    places = [f"place {n}" for n in _OPERATIONS] + ["zarr get", "zarr set", "fsync"]
    return {
        name: {
            "count": note["counts"].get(name, 0) / count,
            "milliseconds": 1e3
            * note["seconds"].get(name, 0.0)
            / max(note["counts"].get(name, 0), 1),
        }
        for name in [*places, "claim", "commit"]
        if note["counts"].get(name)
    }


# --- requests -------------------------------------------------------------------------

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
            # While others work, zarr asks from a thread of its own: for a commit.
            is_zarr = self.phase == "work" and inner.__name__.endswith("_async")
            phase = "commit" if is_zarr else vars(self._mine).get("phase") or self.phase
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
        with engine.exact_numerics():
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


# --- sharing --------------------------------------------------------------------------


_SHARED = [(1000, 1), (1000, 10), (1000, 30), (1000, 100), (3000, 100)]
_names = itertools.count()


def tiny(seeds: int) -> Experiment:
    """Members with four columns, which nobody needs to compute."""
    return Experiment(
        name="tiny",
        make=threshold.make,
        cell={"n": 8, "m": 8, "d": 2, "sigma": 0.3, "scale": 0.1, "n_test": 1},
        seeds=seeds,
        flow=Descent(),
        loss=half_mse,
        times=(1.0,),
        measures={"train_risk": TrainRisk()},
    )


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
    store = Marked(found.place, found.group, found.block)
    outcome = Outcome(
        0,
        layout.Status.REACHED_TIME,
        1.0,
        {name: 0 for name in plan.stats},
        {"train_risk": np.zeros(1)},
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


@contextlib.contextmanager
def sized(block: int):
    """Stores whose blocks have this many members."""
    before = making._LARGEST_BLOCK, making._SMALLEST_BLOCK
    making._LARGEST_BLOCK = making._SMALLEST_BLOCK = block
    try:
        yield
    finally:
        making._LARGEST_BLOCK, making._SMALLEST_BLOCK = before


# --- records --------------------------------------------------------------------------


def records(is_smallest: bool) -> list[dict]:
    """What takes the longer the more blocks there are, on this disk."""
    sizes = (50, 100) if is_smallest else (1000, 10_000, 100_000)
    return [synthetic(size, 10 if is_smallest else 100) for size in sizes]


def synthetic(count: int, block: int) -> dict:
    """A store of `count` blocks, one of which was written; the others are copies."""
    with tempfile.TemporaryDirectory() as folder, sized(block):
        path = pathlib.Path(folder) / "run.zarr"
        plan = make_plan(tiny(count * block))
        store = work.prepare(path, plan, attributes(plan))
        table = empty_table(plan, block)
        for columns in table.groups().values():
            for column in columns.values():
                column.values[:] = 1
        store.commit(0, table)
        for chunk in [p for p in path.rglob("c/0") if p.parent.name == "c"]:
            copied(chunk, count)
        store.work.clear()
        last, seconds = count // 2, {}
        store.forget(last)  # else the run counts as finished
        found = {}
        for name, act in {
            "prepare": lambda: work.prepare(path, plan, attributes(plan)),
            "list": store.committed,
            "start": lambda: blocks.Blocks(plan, store, Leases(store.work)),
            "missing": lambda: found["start"].missing(),
            "tidy": store.place.tidy,
            "complete": lambda: work.complete(written(store, last)),
            "to_xarray": lambda: to_xarray(found["complete"], attributes(plan)),
        }.items():
            began = time.monotonic()
            found[name] = act()
            seconds[name] = time.monotonic() - began
        if found["complete"] is None:
            raise AssertionError("the store is not complete")
        arrays = sum(len(columns) for columns in table.groups().values())
    return {
        "blocks": count,
        "members": count * block,
        "arrays": arrays,
        "files": count * arrays,
        "seconds": seconds,
    }


def written(store: layout.Store, block: int) -> layout.Store:
    """The store with a block whose status was left out."""
    shutil.copy(store._status(0).path, store._status(block).path)
    return store


def copied(chunk: pathlib.Path, count: int) -> None:
    """The chunk of block 0 for all others, without waiting for the disk."""
    for i in range(1, count):
        target = chunk.with_name(str(i))
        if chunk.is_dir():
            shutil.copytree(chunk, target)
        else:
            shutil.copyfile(chunk, target)


# --- host -----------------------------------------------------------------------------


def host(is_smallest: bool, repeats: int) -> list[dict]:
    """Time of the stations' threads outside compiled rounds, compiling apart."""
    cases = {"cheap": (20, 100, 1000, "quick"), "dear": (400, 200, 40, "quick")}
    if is_smallest:
        cases, repeats = {"smallest": (8, 8, 4, "smoke")}, 1
    out = []
    for name, (n, m, members, preset) in cases.items():
        experiment = dataclasses.replace(
            threshold.experiment(preset, n=n, m=m), seeds=members
        )
        if is_smallest:  # which compiles in no time
            experiment = tiny(members)
        rows = [one_host(experiment) for _ in range(repeats)]
        row = {key: float(np.median([r[key] for r in rows])) for key in rows[0]}
        shape = {"n": n, "m": m, "members": members, "times": len(experiment.times)}
        each = [r["share_outside_rounds"] for r in rows]
        out.append({"case": name, **shape, **row, "each": each})
    return out


def one_host(experiment: Experiment) -> dict[str, float]:
    parts = ("begin", "take", "harvest", "next")
    # Loads what Python calls one operation at a time, once for all runs of a process.
    if experiment.seeds > 4:
        simulate(dataclasses.replace(experiment, seeds=2))
    with Tally() as tally:
        tally.watch(engine.Stations, "_drive", "station")
        tally.watch(Programs, "advance", "advance", waits=True)
        for name in ("begin", "take"):
            tally.watch(Programs, name, name)
        tally.watch(engine, "harvest", "harvest")
        tally.watch(Members, "take", "next")
        tally.watch(Table, "put", "table")
        tally.watch(Bar, "show", "bar")
        simulate(experiment)
    busy = tally.seconds["station"]
    rounds = tally.counts["advance"]
    return {
        "stations": float(tally.counts["station"]),
        "seconds_per_station": busy / tally.counts["station"],
        "compile_per_station": tally.seconds["compile"] / tally.counts["station"],
        "rounds": float(rounds),
        "seconds_per_round": tally.seconds["advance"] / rounds,
        "share_outside_rounds": 1 - tally.seconds["advance"] / busy,
        **{f"share_{name}": tally.seconds[name] / busy for name in parts},
        "share_main_thread": (tally.seconds["table"] + tally.seconds["bar"]) / busy,
        "milliseconds_outside_per_member": 1e3
        * (busy - tally.seconds["advance"])
        / experiment.seeds,
    }


# --- model ----------------------------------------------------------------------------

_WORKERS, _MEMBERS = 1000, 10_000_000


def model(document: dict) -> dict:
    """Hours of a thousand workers on ten million members, and what bounds them.

    time = start-up + lists + ⌈B/W⌉ · (max(member seconds · block, commit) + claim),
    but at least B · q/s for writes and for reads: B blocks, W workers, q requests per
    block and s of them per second.  Requests of one worker follow one another; a commit
    is written while the next block is computed, a claim is waited for.  A worker lists
    all blocks when it starts, when it looks at what others have, and at the end: B/1000
    requests each time, so these grow with B · W.
    """
    asked = document["requests"]
    per_block = [asked["per_block"][phase] for phase in ("claim", "commit")]
    claim, commit = (sum(kinds.values()) for kinds in per_block)
    # With many workers a block is tried more than once.
    shared = [row for row in document["sharing"] if row["looks_at_others"]]
    extra = shared[-1]["requests_per_block"] - shared[0]["requests_per_block"]
    claim += extra
    # Each look lists blocks and leases; three more lists are made by everybody.
    looks = shared[-1]["lists_per_worker"] / 2 + 3
    q = {
        "writes": sum(kinds.get(k, 0.0) for kinds in per_block for k in _WRITES),
        "reads": sum(kinds.get(k, 0.0) for kinds in per_block for k in _READS) + extra,
    }
    q["requests"] = q["writes"] + q["reads"]
    q["lists_per_worker"] = looks
    startup = max(
        sum(v for k, v in run.items() if k.startswith("startup"))
        for case in document["workers"]
        for run in case["runs"]
    )
    rows = []
    for (name, store), seconds, block in itertools.product(
        STORES.items(), (0.01, 0.1, 1.0, 10.0), (8, 64, 256)
    ):
        count = math.ceil(_MEMBERS / block)
        latency, pages = store["latency"], looks * math.ceil(count / _PAGE)
        asks = {"writes": count * q["writes"]}
        asks["reads"] = count * q["reads"] + _WORKERS * pages
        asks["requests"] = asks["writes"] + asks["reads"]
        bound_by = {*asks} & {*store}
        busy = max(seconds * block, commit * latency) + claim * latency
        bounds = {
            "computing": startup + pages * latency + math.ceil(count / _WORKERS) * busy,
            **{kind: asks[kind] / store[kind] for kind in bound_by},
        }
        longest = max(bounds, key=lambda k: bounds[k])
        rows.append(
            {
                "store": name,
                "member_seconds": seconds,
                "block": block,
                "blocks": count,
                "objects": count * asked["arrays"],
                "hours": bounds[longest] / 3600,
                "bound_by": longest,
                "efficiency": _MEMBERS * seconds / _WORKERS / bounds[longest],
                "smallest_block_not_bound": max(
                    q[kind] * _WORKERS / store[kind] / seconds for kind in bound_by
                ),
            }
        )
    return {
        "workers": _WORKERS,
        "members": _MEMBERS,
        "startup_seconds": startup,
        "requests_per_block": {**q, "claim": claim, "commit": commit},
        "stores": STORES,
        "rows": rows,
        "once": once_per_run(document),
    }


def once_per_run(document: dict) -> dict:
    """What whoever opens, lists or reads the whole run waits for."""
    small, large = document["records"][-2:]
    arrays, count = document["requests"]["arrays"], math.ceil(_MEMBERS / 256)
    apart = max(large["blocks"] - small["blocks"], 1)
    disk = {}
    for name, seconds in large["seconds"].items():
        slope = (seconds - small["seconds"][name]) / apart
        # Arrays are listed and read one after another.
        more = arrays / large["arrays"] if name == "complete" else 1
        disk[name] = more * (seconds + slope * (count - large["blocks"]))
    latency, together = STORES["S3"]["latency"], zarr.config.get("async.concurrency")
    pages = math.ceil(count / _PAGE)
    return {
        "blocks": count,
        "seconds_on_this_disk": disk,
        "seconds_to_list_blocks": pages * latency,
        "seconds_to_read_all": arrays * latency * (pages + count / together),
        "reads_at_a_time": together,
    }


if __name__ == "__main__":
    main()
