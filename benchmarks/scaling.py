"""How does a run grow with its workers, and what would a thousand of them cost?

    python benchmarks/scaling.py [--json FILE|-] [--part NAME ...] [--smallest]

workers   one and two processes of `simbias worker` on one store, one core each, the
          same members, cheap ones and dear ones; and one that has no store
requests  what a block, a worker and a run ask of an object store, counted
sharing   how often workers try a block that another one has, counted for up to a
          hundred that take turns
records   what is done once per block by whoever opens, lists or reads the store,
          timed for many blocks that were written without computing them
model     from these numbers to a thousand workers and ten million members; what an
          object store sustains is a parameter of it, not a measurement
"""

import argparse
import json
import sys

import jax
from _at_scale import model
from _records import records
from _requests import requests, sharing
from _results import load, machine, written
from _tally import compile_cache
from _workers import as_worker, scaling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parts = ("workers", "requests", "sharing", "records")
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
        "load_before": load(),
        **machine(),
    }
    made = {
        "workers": lambda: scaling(options.smallest, options.repeats),
        "requests": requests,
        "sharing": lambda: sharing(options.smallest),
        "records": lambda: records(options.smallest),
    }
    with compile_cache():
        for part in options.part:
            document[part] = made[part]()
            print(json.dumps({part: document[part]}), flush=True, file=sys.stderr)
    if set(options.part) == set(parts):
        document["model"] = model(document)
    written(options.json, document)


if __name__ == "__main__":
    main()
