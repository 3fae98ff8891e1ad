"""Does a run survive what happens to the processes of Dask?

    python benchmarks/engines/on_dask.py [--json FILE|-] [--only TRIAL …]

A cluster of `distributed` on this machine.  Exit code 77 says that it is not installed.
"""

import contextlib
import importlib
import importlib.util
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

from _trials import (
    FILE,
    Trials,
    at_work,
    gone,
    kill,
    looked,
    parent,
    skipped,
    trials,
    version,
)


def main() -> None:
    if importlib.util.find_spec("distributed") is None:
        skipped("dask", "pip install 'simbias[dask]'")
    versions = {"distributed": version("distributed")}
    with trials(__doc__, "dask", versions) as (found, only):
        for act in TRIALS:
            name = act.__name__.replace("_", " ")
            if not only or name in only:
                with found.trial(name) as row:
                    act(found, row)


def no_address(found: Trials, row: dict[str, Any]) -> None:
    """The command of the docs: a cluster on this machine, which ends with it."""
    out = found.prepared(str(found.folder / "plain"))
    words = ("--cluster", "dask", "--workers", "2", "--cpus", "1", "--wait")
    row["exit_code"] = found.simbias("submit", out, FILE, *words).wait(1200)
    found.finished(row, out)


def a_process_of_dask_is_killed(found: Trials, row: dict[str, Any]) -> None:
    """`kill -9` of the process above a worker; it leaves, Dask starts another."""
    with submitted(found, "above") as (out, command):
        first, *_ = at_work(out, 2)
        kill([parent(first)])
        row["seconds_until_it_has_left"] = round(gone([first]), 1)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def the_scheduler_is_killed(found: Trials, row: dict[str, Any]) -> None:
    """`kill -9` of the command that is scheduler and client: its workers leave."""
    out = found.prepared(str(found.folder / "scheduler"))
    words = ("--cluster", "dask", "--workers", "2", "--cpus", "1", "--wait")
    command = found.simbias("submit", out, FILE, *words)
    try:
        processes = at_work(out, 2)
        before = looked(out).done
    finally:
        command.kill()
    row["seconds_until_they_have_left"] = round(gone(processes), 1)
    left_as_they_should(row, out, before)
    found.finished(row, out)


def the_command_is_terminated(found: Trials, row: dict[str, Any]) -> None:
    """SIGTERM: saved, ended, and it is said how to go on."""
    with submitted(found, "sigterm") as (out, command):
        processes = at_work(out, 2)
        before = looked(out).done
        command.send_signal(signal.SIGTERM)
        row["exit_code"] = command.wait(1200)
        row["seconds_until_they_have_left"] = round(gone(processes), 1)
        left_as_they_should(row, out, before)
        found.finished(row, out)


@contextlib.contextmanager
def submitted(found: Trials, name: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """A run with two workers on a cluster that is not theirs."""
    distributed: Any = importlib.import_module("distributed")

    out = found.prepared(str(found.folder / name))
    here: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **here) as cluster:
        words = ["--cluster", "dask", "--address", cluster.scheduler_address]
        words += ["--wait", "--workers", "2", "--cpus", "1"]
        command = found.simbias("submit", out, FILE, *words)
        try:
            yield out, command
        finally:
            command.kill()
            command.wait()


def left_as_they_should(row: dict[str, Any], out: str, before: int) -> None:
    """Note what was saved by those who have left, and refuse if it is too little."""
    now = looked(out)
    row |= {"members_before": before, "members_saved": now.done}
    row["workers_that_gave_nothing_back"] = len(now.workers) + now.blocks_claimed
    if now.done < before or row["workers_that_gave_nothing_back"]:
        raise RuntimeError("they did not leave as they should")


TRIALS: tuple[Callable[[Trials, dict[str, Any]], None], ...] = (
    no_address,
    a_process_of_dask_is_killed,
    the_scheduler_is_killed,
    the_command_is_terminated,
)


if __name__ == "__main__":
    main()
