"""Workers of one core each on one store, and one without a store, by what they do."""

import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from _tally import Tally

from simbias import cli
from simbias.cli import worker as _worker
from simbias.cli._place import found_run
from simbias.cli._recipe import recipe_of
from simbias.cli._source import source_of
from simbias.ensemble import engine
from simbias.ensemble.programs import Programs
from simbias.ensemble.table import empty_table
from simbias.store import blocks, layout
from simbias.store.folder import Folder

# Options of `simbias run threshold --preset smoke`: members of a few milliseconds,
# most of them the host's, and members of a good part of a second.
_SMALL = "--cell.d 2 --cell.n-test 10 --flow.name descent --times 0 1"
CASES = {
    "cheap": f"--cell.n 8 --cell.m 8 --seeds 4096 {_SMALL}",
    "dear": "--cell.n 110 --cell.m 200 --cell.scale 1e-3 --times 0 10 100 1000"
    " --seeds 96",
}
_SMALLEST = {"cheap": f"--cell.n 8 --cell.m 8 --seeds 32 {_SMALL}"}
_SCRIPT = pathlib.Path(__file__).resolve().with_name("scaling.py")
_OPERATIONS = ("read", "write", "create", "swap", "delete", "exists", "files", "tag")


def as_worker(where: str, core: str, kind: str) -> None:
    """What one process does, and what it notes: a worker, or the same in memory."""
    imported = time.monotonic() - float(os.environ["SPAWNED"])
    folder = pathlib.Path(where)
    with Tally() as tally:
        tally.watch(Programs, "advance", "advance", waits=True)
        tally.watch(_worker, "plan_of", "plan")
        tally.watch(_worker, "work", "work")
        tally.watch(blocks.Blocks, "_claim", "claim")
        tally.watch(blocks.Blocks, "_commit", "commit")
        tally.watch(blocks.Blocks, "checkpoint", "checkpoint")
        tally.watch(blocks.Blocks, "missing", "missing")
        for name in _OPERATIONS:
            tally.watch(Folder, name, f"place {name}")
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
    _, store = found_run(str(folder))
    source = source_of(store, "worker", None, trusts=False)
    recipe = recipe_of(store, source)
    plan = _worker.plan_of(source, recipe, None, holds_result=True)
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
        command = [sys.executable, str(_SCRIPT), "--worker"]
        command += [str(folder), str(core), kind]
        here = {"PYTHONPATH": str(_SCRIPT.parent.parent)}
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
    shown: dict[str, Any] = {"members": members, "blocks": count}
    shown |= {"block": store.block, "runs": []}
    medians = {}
    for which, several in runs.items():
        rows = [one_run(notes) for notes in several]
        row: dict[str, Any] = {
            key: float(np.median([r[key] for r in rows])) for key in rows[0]
        }
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
    places = [f"place {n}" for n in _OPERATIONS] + ["fsync"]
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
