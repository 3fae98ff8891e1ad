"""Seconds of the tests by folder, from what pytest printed.

    uv run pytest -q --durations=0 --durations-min=0.02 | tee FILE
    python tools/seconds_of_tests.py FILE [--json FILE]

Two tests run at a time: a whole run takes a little more than half of the sum.
"""

import argparse
import collections
import json
import pathlib
import re


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    found = summary(options.file.read_text())
    text = json.dumps(found, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


def summary(printed: str) -> dict:
    """Tests, seconds on the clock, and those of every folder, longest first."""
    seconds: dict[str, float] = collections.defaultdict(float)
    longest: dict[str, float] = collections.defaultdict(float)
    for took, file, name in re.findall(
        r"(?m)^([\d.]+)s (?:call|setup|teardown) +(\S+?)::(\w+)", printed
    ):
        parts = pathlib.PurePosixPath(file).parts
        seconds["/".join(parts[:2])] += float(took)
        longest[f"{file}::{name}"] += float(took)
    last = printed.rstrip().splitlines()[-1]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed)", last)}
    clock = re.search(r"in ([\d.]+)s", last)
    return {
        "tests": counts,
        "seconds": round(float(clock[1])) if clock else None,
        "sum": round(sum(seconds.values())),
        "folders": _longest_first(seconds),
        "longest": _longest_first(longest, 10),
    }


def _longest_first(seconds: dict[str, float], most: int | None = None) -> dict:
    pairs = sorted(seconds.items(), key=lambda pair: -pair[1])
    return {name: round(took) for name, took in pairs[:most]}


if __name__ == "__main__":
    main()
