"""How long does a user wait for the commands that compute nothing?

    python benchmarks/waiting.py [--repeats 5] [--json FILE|-] [--smallest]

Seconds by the clock of `simbias --help`, `list` and `run threshold --help`, of a run
with bad input, of a run with no workers (its plan), and of a finished run that is
opened (`resume`) and drawn again (`figure`).  Each is a process of its own, and the
median of some repeats, after one that fills the caches.  `--smallest` takes `--help`
and `list`, once.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from _results import load, machine, written

SMALL = ("run", "threshold", "--preset", "smoke")
COMMANDS = {
    "--help": ("--help",),
    "list": ("list",),
    "run threshold --help": ("run", "threshold", "--help"),
    "bad input": (*SMALL, "--cell.n", "-1", "--out", "{folder}/bad"),
    "plan": (*SMALL, "--workers", "0", "--out", "{folder}/plan{i}"),
    "resume, finished": ("resume", "{folder}/run"),
    "figure": ("figure", "{folder}/run"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    repeats = 1 if options.smallest else options.repeats
    asked = {k: COMMANDS[k] for k in ("--help", "list")}
    with tempfile.TemporaryDirectory() as folder:
        if not options.smallest:
            asked = COMMANDS
            seconds_of((*SMALL, "--out", f"{folder}/run"))
        before = load()
        seconds = {
            name: waited(words, folder, repeats) for name, words in asked.items()
        }
    document = {"load_before": before, "repeats": repeats, **machine()}
    written(options.json, {**document, "seconds": seconds})


def waited(words: tuple[str, ...], folder: str, repeats: int) -> float:
    """Median seconds of a command, without the first time."""
    several = [
        seconds_of(tuple(word.format(folder=folder, i=i) for word in words))
        for i in range(repeats + 1)
    ]
    return round(statistics.median(several[1:]), 2)


def seconds_of(words: tuple[str, ...]) -> float:
    root = pathlib.Path(__file__).resolve().parent.parent
    begun = time.perf_counter()
    subprocess.run(
        (sys.executable, "-m", "simbias", *words),
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
