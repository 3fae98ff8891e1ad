"""Does a run survive what happens to the processes of Dask?

    python benchmarks/engines/on_dask.py [--json FILE|-] [--only TRIAL …]

A cluster of `distributed` on this machine.  Exit code 77 says that it is not installed.
"""

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

from _placed import COMMON, Engine, no_address, the_command_is_killed_with_its_cluster
from _trials import skipped, trials, version


def main() -> None:
    if importlib.util.find_spec("distributed") is None:
        skipped("dask", "pip install 'simbias[dask]'")
    versions = {"distributed": version("distributed")}
    dask = Engine("dask", two_places, lambda cluster: cluster.scheduler_address)
    with trials(__doc__, "dask", versions) as (found, only):
        found.all_of(TRIALS, only, dask)


@contextlib.contextmanager
def two_places() -> Iterator[Any]:
    """Two workers of Dask with a thread each."""
    distributed: Any = importlib.import_module("distributed")
    here: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **here) as cluster:
        yield cluster


TRIALS = (no_address, *COMMON, the_command_is_killed_with_its_cluster)


if __name__ == "__main__":
    main()
