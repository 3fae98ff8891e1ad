"""How long does a first run take, on a machine that has never seen one?

    python benchmarks/first_run.py [--small-shapes] [--json FILE|-] [--smallest]

`simbias run threshold`, or a grid of 24 small shapes (`_small_shapes.py`), twice, each
in a process of its own, with all caches (compiled programs, fonts, Python's own) in an
empty folder at first: by the clock, in seconds of processor, and what JAX says of
tracing, lowering and compiling, by the clock and summed over threads.  What the second
run needs no more is what compiling costs: it traces and lowers as the first does, and
reads its programs.  `--smallest` takes `catapult` with the preset smoke instead, and
the bytecode that there is.
"""

import argparse
import collections
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from _results import load, machine, written

STEPS = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowering",
    "/jax/core/compile/backend_compile_duration": "compiling",
}
# Programs that take less are single operations.
LEAST_SECONDS = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--small-shapes", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return counted(*options.one)

    preset = "smoke" if options.smallest else "quick"
    experiment = "catapult" if options.smallest else "threshold"
    if options.small_shapes:
        experiment = "small_shapes.py"
    document = {
        "experiment": experiment,
        "preset": preset,
        "load_before": load(),
        **machine(),
    }
    with tempfile.TemporaryDirectory() as folder:
        for which in ("first", "second"):
            here = pathlib.Path(folder)
            document[which] = run(
                experiment, preset, here, which, has_bytecode=options.smallest
            )
    written(options.json, document)
    return None


def run(
    experiment: str, preset: str, folder: pathlib.Path, which: str, has_bytecode: bool
) -> dict:
    """One run in its own process, and what it took."""
    report, runs = folder / f"{which}.json", folder / which
    runs.mkdir()
    own = pathlib.Path(__file__).with_name("_small_shapes.py")
    shutil.copy(own, runs / "small_shapes.py")
    kept = {"JAX_COMPILATION_CACHE_DIR", "PYTHONDONTWRITEBYTECODE", "MPLCONFIGDIR"}
    environment = {k: v for k, v in os.environ.items() if k not in kept}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache")}
    if not has_bytecode:
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    file = str(pathlib.Path(__file__).resolve())
    command = [sys.executable, file, "--one", experiment, preset, str(report)]
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, cwd=runs, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor, 1),
        **json.loads(report.read_text()),
    }


def counted(experiment: str, preset: str, report: str) -> None:
    """The command itself, with JAX's own durations written down."""
    from jax import monitoring  # noqa: PLC0415

    seconds: dict[str, float] = collections.defaultdict(float)
    programs = []

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        if event in STEPS:
            seconds[STEPS[event]] += duration_secs
        if STEPS.get(event) == "compiling" and duration_secs > LEAST_SECONDS:
            programs.append(duration_secs)

    monitoring.register_event_duration_secs_listener(listen)
    from simbias.cli import main as command  # noqa: PLC0415

    try:
        command(["run", experiment, "--preset", preset])
    finally:
        document = {
            "programs_of_some_time": len(programs),
            "seconds_of_jax": {k: round(v, 1) for k, v in seconds.items()},
        }
        pathlib.Path(report).write_text(json.dumps(document))


if __name__ == "__main__":
    main()
