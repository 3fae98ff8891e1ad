"""Does a run survive what happens to the nodes and processes of Ray?

    python benchmarks/engines/on_ray.py [--json FILE|-] [--only TRIAL …]

Two nodes of `ray.cluster_utils.Cluster`, on this machine.  Exit code 77 says that Ray
is not installed.
"""

import contextlib
import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from _placed import (
    COMMON,
    Engine,
    no_address,
    placed,
    submitted,
    the_command_is_killed_with_its_cluster,
)
from _trials import (
    Trials,
    at_work,
    contents,
    descendants,
    free_port,
    gone,
    kill,
    listens,
    of_docs,
    skipped,
    trials,
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
    ray = Engine("ray", two_nodes, lambda cluster: cluster.address)
    with trials(__doc__, "ray", {"ray": version("ray")}) as (found, only):
        found.all_of(TRIALS, only, ray)


def script_of_the_docs(found: Trials, engine: Engine, row: dict[str, Any]) -> None:
    """`simulate` with workers, as docs/cluster.md has it."""
    del engine
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
    mine = contents(f"{found.folder}/mine/run.zarr")
    row["bytes_equal"] = mine == contents(f"{found.folder}/one.zarr")


def a_cluster_that_was_there(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """`ray start --head`, as others would have set it up, and `--address auto`."""
    ray = f"{pathlib.Path(sys.executable).parent}/ray"
    port, here = free_port(), "--node-ip-address=127.0.0.1"
    words = ["start", "--head", f"--port={port}", here, "--num-cpus=2"]
    words += ["--include-dashboard=false", "--disable-usage-stats"]
    subprocess.run([ray, *words], env=found.environment, check=True)
    try:
        with submitted(found, engine, "auto", "--address", "auto") as (out, command):
            row["exit_code"] = command.wait(1200)
            found.finished(row, out)
        row["cluster_goes_on"] = listens(port)
    finally:
        subprocess.run([ray, "stop", "--force"], env=found.environment, check=False)


def a_node_is_removed(found: Trials, engine: Engine, row: dict[str, Any]) -> None:
    """`Cluster.remove_node`, not gracefully, while workers of both nodes compute."""
    with placed(found, engine, "removed") as (out, command, cluster):
        processes = at_work(out, 2)
        second = cluster.worker_nodes.copy().pop()
        lost = [p for p in processes if p in descendants(raylet(second))]
        row["workers_on_it"] = len(lost)
        cluster.remove_node(second, allow_graceful=False)
        row["seconds_until_they_have_left"] = round(gone(lost), 1)
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)


def a_node_loses_power(found: Trials, engine: Engine, row: dict[str, Any]) -> None:
    """`kill -9` of all that runs on a node at once."""
    with placed(found, engine, "power") as (out, command, cluster):
        processes = at_work(out, 2)
        second = cluster.worker_nodes.copy().pop()
        lost = descendants(raylet(second))
        row["workers_on_it"] = len([p for p in processes if p in lost])
        row["processes_killed"] = len(lost)
        kill(lost)
        row["exit_code"] = command.wait(1200)
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


def raylet(node: Any) -> int:
    """The process above all workers of a node."""
    return node.all_processes["raylet"][0].process.pid


TRIALS = (
    no_address,
    script_of_the_docs,
    a_cluster_that_was_there,
    a_node_is_removed,
    a_node_loses_power,
    *COMMON,
    the_command_is_killed_with_its_cluster,
)


if __name__ == "__main__":
    main()
