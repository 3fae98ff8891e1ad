"""Does a run survive what happens to the processes of Dask?

    python benchmarks/engines/on_dask.py [--json FILE|-] [--only TRIAL …]

A cluster of `distributed` on this machine.  Exit code 77 says that it is not installed.
"""

import contextlib
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from _placed import (
    COMMON,
    Engine,
    no_address,
    submitted,
    the_command_is_killed_with_its_cluster,
)
from _trials import Trials, free_port, listens, skipped, trials, version


def main() -> None:
    if importlib.util.find_spec("distributed") is None:
        skipped("dask", "pip install 'simbias[dask]'")
    versions = {"distributed": version("distributed")}
    dask = Engine("dask", two_places, lambda cluster: cluster.scheduler_address)
    with trials(__doc__, "dask", versions) as (found, only):
        found.all_of(TRIALS, only, dask)


def a_cluster_that_was_there(
    found: Trials, engine: Engine, row: dict[str, Any]
) -> None:
    """`dask scheduler` and two `dask worker`, as others would have set them up."""
    port = free_port()
    address, program = f"tcp://127.0.0.1:{port}", [sys.executable, "-m", "dask"]
    at = [f"--port={port}", "--host=127.0.0.1", "--no-dashboard"]
    one = ["worker", address, "--nthreads=1", "--no-dashboard"]
    with contextlib.ExitStack() as there:
        for words in (["scheduler", *at], one, one):
            begun = subprocess.Popen([*program, *words], env=found.environment)
            there.callback(begun.wait)
            there.callback(begun.terminate)
        name = ("cluster", "--address", address)
        out, command = there.enter_context(submitted(found, engine, *name))
        row["exit_code"] = command.wait(1200)
        found.finished(row, out)
        row["cluster_goes_on"] = listens(port)


@contextlib.contextmanager
def two_places() -> Iterator[Any]:
    """Two workers of Dask with a thread each."""
    distributed: Any = importlib.import_module("distributed")
    here: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **here) as cluster:
        yield cluster


TRIALS = (
    no_address,
    a_cluster_that_was_there,
    *COMMON,
    the_command_is_killed_with_its_cluster,
)


if __name__ == "__main__":
    main()
