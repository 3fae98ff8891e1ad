"""Does a run survive what happens to the nodes and processes of Ray?

    python benchmarks/engines/on_ray.py [--json FILE|-] [--only TRIAL …]

Two nodes of `ray.cluster_utils.Cluster`, on this machine.  Exit code 77 says that Ray
is not installed.
"""

import contextlib
import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from _trials import (
    FILE,
    Trials,
    at_work,
    descendants,
    fresh_cache,
    gone,
    kill,
    looked,
    of_docs,
    parent,
    skipped,
    trials,
    until,
    version,
)

# Ray would else tell its makers that it is used, start its processes by `uv run`, and
# listen at more than the loopback address.
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


def main() -> None:
    if importlib.util.find_spec("ray") is None:
        skipped("ray", "pip install 'simbias[ray]'")
    with trials(__doc__, "ray", {"ray": version("ray")}) as (found, only):
        for act in TRIALS:
            name = act.__name__.replace("_", " ")
            if not only or name in only:
                with found.trial(name) as row:
                    act(found, row)


def no_address(found: Trials, row: dict[str, Any]) -> None:
    """The command of the docs: a cluster on this machine, which ends with it."""
    out = found.prepared(str(found.folder / "plain"))
    words = ("--cluster", "ray", "--workers", "2", "--cpus", "1", "--wait")
    row["exit_code"] = found.simbias("submit", out, FILE, *words).wait(1200)
    found.finished(row, out)


def script_of_the_docs(found: Trials, row: dict[str, Any]) -> None:
    """`simulate` with workers, as docs/cluster.md has it."""
    script = of_docs("Ray", "python").replace(
        "RayWorkers(8, cpus=4)", "RayWorkers(2, cpus=1)"
    )
    row["script"] = script
    text = script.replace('"quick"', '"smoke"').replace("/shared/", f"{found.folder}/")
    (found.folder / "mine.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=found.folder, env=found.environment, check=True
    )
    row["exit_code"] = done.returncode
    one = found.folder / "one.py"
    one.write_text(
        "import simbias\nfrom simbias.experiments import threshold\n"
        "simbias.simulate(threshold.experiment('smoke'), store='one.zarr')\n"
    )
    subprocess.run(
        [sys.executable, "one.py"], cwd=found.folder, env=found.environment, check=True
    )
    from _trials import contents

    mine = contents(f"{found.folder}/mine/run.zarr")
    row["bytes_equal"] = mine == contents(f"{found.folder}/one.zarr")


def a_node_is_removed(found: Trials, row: dict[str, Any]) -> None:
    """`Cluster.remove_node`, not gracefully, while workers of both nodes compute."""
    with two_nodes() as cluster, submitted(found, cluster, "removed") as (out, command):
        processes = at_work(out, 2)
        second = cluster.worker_nodes.copy().pop()
        lost = [p for p in processes if p in descendants(raylet(second))]
        row["workers_on_it"] = len(lost)
        cluster.remove_node(second, allow_graceful=False)
        row["seconds_until_they_have_left"] = round(gone(lost), 1)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def a_node_loses_power(found: Trials, row: dict[str, Any]) -> None:
    """`kill -9` of all that runs on a node at once."""
    with two_nodes() as cluster, submitted(found, cluster, "power") as (out, command):
        at_work(out, 2)
        second = cluster.worker_nodes.copy().pop()
        row["processes_killed"] = len(found_there := descendants(raylet(second)))
        kill(found_there)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def a_process_of_ray_is_killed(found: Trials, row: dict[str, Any]) -> None:
    """`kill -9` of the process above a worker; it leaves, Ray starts another."""
    with two_nodes() as cluster, submitted(found, cluster, "above") as (out, command):
        first, *_ = at_work(out, 2)
        kill([parent(first)])
        row["seconds_until_it_has_left"] = round(gone([first]), 1)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def a_worker_is_killed(found: Trials, row: dict[str, Any]) -> None:
    """`kill -9` of a worker itself: its task has failed, the others take over."""
    with two_nodes() as cluster, submitted(found, cluster, "worker") as (out, command):
        first, *_ = at_work(out, 2)
        kill([first])
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def the_command_is_killed(found: Trials, row: dict[str, Any]) -> None:
    """`kill -9` of `simbias submit`: its workers save what they are at and leave."""
    with two_nodes() as cluster, submitted(found, cluster, "parent") as (out, command):
        processes = at_work(out, 2)
        before = looked(out).done
        command.kill()
        row["seconds_until_they_have_left"] = round(gone(processes), 1)
        as_it_should(row, out, before)
        found.finished(row, out)


def the_command_is_terminated(found: Trials, row: dict[str, Any]) -> None:
    """SIGTERM: the same, and the command says how to go on."""
    with two_nodes() as cluster, submitted(found, cluster, "sigterm") as (out, command):
        processes = at_work(out, 2)
        before = looked(out).done
        command.send_signal(signal.SIGTERM)
        row["exit_code"] = command.wait(1200)
        row["seconds_until_they_have_left"] = round(gone(processes), 1)
        as_it_should(row, out, before)
        found.finished(row, out)


def the_command_is_terminated_while_workers_compile(
    found: Trials, row: dict[str, Any]
) -> None:
    """The same before there is a program to compute with."""
    before, found.environment = found.environment, fresh_cache(found)
    os.environ |= {"JAX_COMPILATION_CACHE_DIR": str(found.folder / "empty")}
    with two_nodes() as cluster:
        os.environ |= before
        with submitted(found, cluster, "compiling") as (out, command):
            found.environment = before
            is_so = lambda: any(one.compiling for one in looked(out).workers)
            until(is_so, 600, "compiling")
            processes = [one.process for one in looked(out).workers]
            command.send_signal(signal.SIGTERM)
            began = time.monotonic()
            row["seconds_until_they_have_left"] = round(gone(processes), 1)
            row["exit_code"] = command.wait(1200)
            row["seconds_until_the_command_has"] = round(time.monotonic() - began, 1)
            as_it_should(row, out, 0)
            found.finished(row, out)


@contextlib.contextmanager
def two_nodes() -> Iterator[Any]:
    """Two nodes with one core each, of which the first is the head."""
    cluster = _begun()
    try:
        yield cluster
    finally:
        cluster.shutdown()


def _begun(tries: int = 4) -> Any:
    """Ray gives a node half a minute to start, too little on a busy machine."""
    utilities: Any = importlib.import_module("ray.cluster_utils")
    node = {"num_cpus": 1, "include_dashboard": False}
    cluster = None
    for left in reversed(range(tries)):
        try:
            cluster = utilities.Cluster(initialize_head=True, head_node_args=node)
            cluster.add_node(num_cpus=1)
            return cluster
        except Exception:
            if cluster is not None:
                cluster.shutdown()
            if not left:
                raise
    raise AssertionError


@contextlib.contextmanager
def submitted(
    found: Trials, cluster: Any, name: str
) -> Iterator[tuple[str, subprocess.Popen]]:
    """A run with four workers on the cluster, and the command that waits for them."""
    out = found.prepared(str(found.folder / name))
    words = ["--cluster", "ray", "--address", cluster.address, "--wait"]
    words += ["--workers", "2", "--cpus", "1"]
    command = found.simbias("submit", out, FILE, *words)
    try:
        yield out, command
    finally:
        command.kill()
        command.wait()


def as_it_should(row: dict[str, Any], out: str, before: int) -> None:
    """Note what was saved by those who have left, and refuse if it is too little."""
    now = looked(out)
    row |= {"members_before": before, "members_saved": now.done}
    row["workers_that_gave_nothing_back"] = len(now.workers) + now.blocks_claimed
    if now.done < before or row["workers_that_gave_nothing_back"]:
        raise RuntimeError("they did not leave as they should")


def raylet(node: Any) -> int:
    """The process above all workers of a node."""
    return node.all_processes["raylet"][0].process.pid


TRIALS: tuple[Callable[[Trials, dict[str, Any]], None], ...] = (
    no_address,
    script_of_the_docs,
    a_node_is_removed,
    a_node_loses_power,
    a_process_of_ray_is_killed,
    a_worker_is_killed,
    the_command_is_killed,
    the_command_is_terminated,
    the_command_is_terminated_while_workers_compile,
)


if __name__ == "__main__":
    main()
