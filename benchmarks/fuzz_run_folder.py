"""Does anything in the folder of a stranger's run harm who looks at it?

Documents, headers of arrays, bytes and kinds of files of a run are changed at random
(hypothesis), checksums put right, and a command is called.  A fault is a traceback,
more than 10 s of processor time (40 where networks are computed), more than 500 MB, a
file outside that is touched or shown, a character that a terminal obeys.  Linux only.

    python benchmarks/fuzz_run_folder.py [--cases 2000] [--json FILE] [--smallest]
"""

import argparse
import collections
import pathlib
import tempfile
import time

import jax
import matplotlib
from _attacked import attacked
from _hostile import Case, cases, templates
from _results import load, machine, written
from hypothesis import HealthCheck, Phase, given, settings

SMALLEST = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--json")
    parser.add_argument("--smallest", action="store_true")
    asked = parser.parse_args()
    count = SMALLEST if asked.smallest else asked.cases
    matplotlib.use("Agg")
    jax.config.update("jax_enable_x64", True)
    with tempfile.TemporaryDirectory() as folder:
        known = templates(pathlib.Path(folder))
        began, found = time.perf_counter(), []

        @settings(
            max_examples=count,
            phases=(Phase.generate,),
            database=None,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(cases())
        def each(case: Case) -> None:
            fault, seconds, taken = attacked(known[case.template], case)
            found.append((case, fault, seconds, taken))
            if len(found) % 100 == 0:
                print(len(found), "cases", flush=True)
            if fault:
                print(f"{fault}: {case}", flush=True)

        each()
        took = time.perf_counter() - began
    faults = [(case, fault) for case, fault, _, _ in found if fault]
    commands = collections.Counter(case.command for case, *_ in found)
    kinds = collections.Counter(h[0] for case, *_ in found for h in case.harms)
    document = {
        "cases": len(found),
        "faults": [{"fault": fault, "case": str(case)} for case, fault in faults],
        "commands": dict(commands),
        "harms": dict(kinds),
        "largest_seconds": round(max(seconds for *_, seconds, _ in found), 2),
        "largest_MB": round(max(taken for *_, taken in found) / 1e6, 1),
        "seconds": round(took, 1),
        "load": load(),
        "machine": machine(),
    }
    told = {k: v for k, v in document.items() if k not in ("faults", "machine")}
    print(f"{len(faults)} faults; {told}")
    if asked.json:
        written(asked.json, document)
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
