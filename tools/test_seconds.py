"""Seconds of the tests by folder, from what pytest printed.

    uv run pytest -q --durations=0 --durations-min=0.02 | tee FILE
    python tools/test_seconds.py FILE [--json FILE]

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
    seconds: collections.Counter[str] = collections.Counter()
    longest: collections.Counter[str] = collections.Counter()
    for took, file, name in re.findall(
        r"(?m)^([\d.]+)s (?:call|setup|teardown) +(\S+?)::(\w+)", printed
    ):
        parts = pathlib.PurePosixPath(file).parts
        seconds["/".join(parts[:2])] += float(took)
        longest[f"{file}::{name}"] += float(took)
    last = printed.rstrip().splitlines()[-1]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed)", last)}
    clock = re.search(r"in ([\d.]+)s", last)
    rounded = lambda counter, most: {k: round(v) for k, v in counter.most_common(most)}
    return {
        "tests": counts,
        "seconds": round(float(clock[1])) if clock else None,
        "sum": round(sum(seconds.values())),
        "folders": rounded(seconds, None),
        "longest": rounded(longest, 10),
    }


if __name__ == "__main__":
    main()
