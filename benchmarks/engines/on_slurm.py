"""Does a run survive what Slurm does to its jobs?

    python benchmarks/engines/on_slurm.py [--json FILE|-] [--only TRIAL …]

Slurm itself, with two nodes on this machine, which is set up for it and taken down
again (as root; Debian's packages are installed if they are not there).  Exit code 77
says that it could not be.
"""

import glob
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from _slurm_cluster import PACKAGES, Cluster, cluster, lacking, nodes_of
from _trials import (
    FILE,
    RESULTS,
    Trials,
    at_work,
    compiling,
    fresh_cache,
    looked,
    skipped,
    trials,
    until,
    version,
)


def main() -> None:
    if why := lacking():
        skipped("slurm", why)
    versions = {"submitit": version("submitit")}
    for package in PACKAGES:
        shown = ["dpkg-query", "-W", "-f=${Version}", package]
        versions[package] = subprocess.run(
            shown, capture_output=True, text=True, check=False
        ).stdout
    with (
        trials(__doc__, "slurm", versions) as (found, only),
        cluster(found.folder / "slurm") as slurm,
    ):
        found.environment |= {"SLURM_CONF": str(slurm.configuration)}
        found.all_of(TRIALS, only, slurm, slurm.emptied)


def jobs_that_wait(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """The command of the docs, with `--wait`."""
    del slurm
    out = found.prepared(str(found.folder / "plain"))
    done = submit(found, out, "--workers", "4", "--cpus", "1", "--wait")
    with found.watched(row, out):
        row["exit_code"] = done.wait(1200)
    row |= logged(out)
    found.finished(row, out)


def array_job_of_the_docs(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """What docs/cluster.md has for a cluster without submitit."""
    out = found.prepared(str(found.folder / "array"))
    block = of_docs_array().replace("runs/slurm", out)
    worker = f"{sys.executable} -m simbias worker {out} {FILE}"
    block = block.replace(f"simbias worker {out}", worker)
    block = block.replace("1-16", "1-4").replace("--cpus-per-task=4", "-c1")
    script = found.folder / "array.sh"
    script.write_text(block)
    row["script"] = of_docs_array()
    slurm.environment |= found.environment
    slurm.run("sbatch", f"--output={found.folder}/array-%a.log", str(script))
    at_work(out, 2)
    slurm.ended(600)
    found.finished(row, out)


def preempted_with_a_grace_period(
    found: Trials, slurm: Cluster, row: dict[str, Any]
) -> None:
    """Slurm sends SIGTERM, and SIGKILL a minute later."""
    preempted(found, slurm, row, "short")


def preempted_without_one(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """Slurm ends the job at once, as it does everything: SIGTERM, 30 s, SIGKILL."""
    preempted(found, slurm, row, "abrupt")


def past_the_time_limit(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """One job of a minute, more often than the three times after which submitit gives
    up by itself; then it is allowed the time that it needs."""
    slower = {**found.environment, "SIMBIAS_PACE": "3"}
    before, found.environment = found.environment, slower
    try:
        four_times(found, slurm, row)
    finally:
        found.environment = before


def four_times(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    row["seconds_per_member"] = float(found.environment["SIMBIAS_PACE"])
    out = found.prepared(str(found.folder / "limit"))
    submit(found, out, "--workers", "1", "--cpus", "1", "--minutes", "1").wait(1200)
    (job,) = slurm.queue()
    saved: list[int] = []

    def often_enough() -> bool:
        slurm.hurry()
        if logged(out)["requeued"] > len(saved):
            saved.append(looked(out).done)
        return len(saved) > 3

    until(often_enough, 900, "it was queued again four times", pause=1.0)
    row["members_saved_each_time"] = saved
    slurm.run("scontrol", "update", f"jobid={job}", "timelimit=30")
    slurm.ended(900)
    row |= logged(out)
    found.finished(row, out)


def a_node_is_lost(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """`kill -9` of the daemon of a node and of all that runs there."""
    out = found.prepared(str(found.folder / "lost"))
    submit(found, out, "--workers", "4", "--cpus", "1").wait(1200)
    nodes = nodes_of(at_work(out, 4))
    row["workers_by_node"] = sorted(nodes.values())
    killed = slurm.kill_node("node2", with_jobs=True)
    row["processes_killed"] = len(killed)
    row["seconds_until_down"] = round(until(lambda: is_down(slurm), 120), 1)
    row["queue_then"] = sorted(slurm.queue().values())
    if row["queue_then"].count("PENDING") != row["workers_by_node"].count("node2"):
        raise RuntimeError("what was lost was not queued again")
    slurm.start_node("node2")
    slurm.ended(600)
    row |= logged(out)
    found.finished(row, out)


def a_daemon_is_killed(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """`kill -9` of slurmd alone; its jobs go on, and it comes back."""
    out = found.prepared(str(found.folder / "daemon"))
    submit(found, out, "--workers", "4", "--cpus", "1").wait(1200)
    at_work(out, 4)
    slurm.kill_node("node2", with_jobs=False)
    time.sleep(5)
    slurm.start_node("node2")
    slurm.ended(600)
    row |= logged(out)
    found.finished(row, out)


def workers_end_with_an_error(
    found: Trials, slurm: Cluster, row: dict[str, Any]
) -> None:
    """At their first member; the command and `simbias status` say with which."""
    del slurm
    out = found.prepared(str(found.folder / "error"))
    with found.failing():
        command = submit(found, out, "--workers", "2", "--cpus", "1", "--wait")
        row["exit_code"] = command.wait(1200)
    found.failed(row, out)


def cancelled(found: Trials, slurm: Cluster, row: dict[str, Any]) -> None:
    """`scancel`: saved, ended in time, and not queued again."""
    out = found.prepared(str(found.folder / "cancelled"))
    submit(found, out, "--workers", "2", "--cpus", "1").wait(1200)
    processes = at_work(out, 2)
    row["members_before"] = looked(out).done
    slurm.run("scancel", "--user=root")
    found.left(row, out, processes)
    slurm.ended(60)
    row |= logged(out)
    if row["requeued"]:
        raise RuntimeError("it was queued again")
    found.finished(row, out)


def cancelled_while_it_compiles(
    found: Trials, slurm: Cluster, row: dict[str, Any]
) -> None:
    """The same before there is a program to compute with."""
    out = found.prepared(str(found.folder / "compiling"))
    before, found.environment = found.environment, fresh_cache(found)
    submit(found, out, "--workers", "1", "--cpus", "1").wait(1200)
    found.environment = before
    processes = compiling(out, 1)
    slurm.run("scancel", "--user=root")
    found.left(row, out, processes)
    found.finished(row, out)


def preempted(
    found: Trials, slurm: Cluster, row: dict[str, Any], partition: str
) -> None:
    out = found.prepared(str(found.folder / partition))
    words = ("--workers", "4", "--cpus", "1", "--partition", partition)
    submit(found, out, *words).wait(1200)
    processes = at_work(out, 4)
    row["members_before"] = looked(out).done
    began = time.monotonic()
    urgent = ["srun", "--partition=urgent", "--nodes=2", "--exclusive", "sleep", "5"]
    other = subprocess.Popen(urgent, env=slurm.environment)
    found.left(row, out, processes)
    other.wait(300)
    row["seconds_of_the_urgent_job"] = round(time.monotonic() - began, 1)
    row["queue_then"] = sorted(slurm.queue().values())
    slurm.ended(900)
    row |= logged(out)
    found.finished(row, out)


def submit(found: Trials, out: str, *words: str) -> subprocess.Popen:
    return found.simbias("submit", out, FILE, "--cluster", "slurm", *words)


def is_down(slurm: Cluster) -> bool:
    return "down" in slurm.run("sinfo", "-h", "-N", "-n", "node2", "-o%T")


def logged(out: str) -> dict[str, Any]:
    """What the jobs have printed: how often they were queued again, and errors."""
    files = glob.glob(f"{out}/jobs/*_log.*")
    text = "".join(pathlib.Path(file).read_text(errors="replace") for file in files)
    return {
        "requeued": len(re.findall(r"Requeued job", text)),
        "starts": len(re.findall(r"Loading pickle", text)),
        "tracebacks": text.count("Traceback (most recent call last)"),
    }


def of_docs_array() -> str:
    """The array job of the docs, which is the second block of its section."""
    text = (RESULTS.parents[1] / "docs" / "cluster.md").read_text()
    return "#!/bin/bash" + text.partition("#!/bin/bash")[2].partition("```")[0]


TRIALS: tuple[Callable[[Trials, Cluster, dict[str, Any]], None], ...] = (
    jobs_that_wait,
    array_job_of_the_docs,
    preempted_with_a_grace_period,
    preempted_without_one,
    past_the_time_limit,
    a_node_is_lost,
    a_daemon_is_killed,
    workers_end_with_an_error,
    cancelled,
    cancelled_while_it_compiles,
)


if __name__ == "__main__":
    main()
