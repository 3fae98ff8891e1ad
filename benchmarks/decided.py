"""What do more seeds decide of the claims that are inconclusive at the quick size?

    python benchmarks/decided.py [NAME ...] [--budget 5m] [--limit 10m] [--runs FOLDER]
    python benchmarks/decided.py --smallest

Runs `simbias check --decide` for every stored check with an inconclusive claim, the one
that is cheapest to decide first, each in its own process.  A check that is stored
already is not repeated.  A process that takes three times its budget is stopped, as
the first look at 20 seeds alone may take longer; it is stored without claims, and
resumes from its folder when that file is removed.  Stored per check: its claims with
intervals that are valid at every look, the seeds used, the seeds that would decide, and
seconds by clock and by processor.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

from _results import machine, written

from simbias.analysis.seeds_to_decide import seeds_to_decide
from simbias.cli._budget import seconds_of
from simbias.core import VERDICTS, Claim, Estimate
from simbias.preset_names import run_name

RESULTS = pathlib.Path(__file__).parent / "results"
# Seconds of the quick check where the stored one was taken from a run of several parts.
_SECONDS = {
    "dominoes": 312.6,
    "dominoes-fashion": 300.0,
    "first_filters": 63.3,
    "first_filters-fashion": 63.3,
    "grokking": 342.0,
    "interpolating_samples": 498.5,
    "layer_similarity-fashion": 300.0,
    "low_rank_weights": 9.5,
    "mode_connectivity-mnist5k": 162.0,
    "ntk_circle": 21.3,
    "order_of_limits": 174.1,
    "path_spectrum": 8.4,
    "phase_diagram": 25.0,
    "principal_components-images": 80.0,
    "sensitivity_patches": 40.7,
    "simple_first": 26.4,
    "simple_first-law": 40.0,
    "spectral_petals": 12.9,
    "stragglers": 91.4,
    "threshold-sgd": 113.3,
    "threshold_scaling": 138.0,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--limit", default="10m")
    parser.add_argument("--runs", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS / "decided")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    before = quick()
    names = options.names or by_cost(before)
    with tempfile.TemporaryDirectory() as folder:
        runs, results = options.runs or pathlib.Path(folder), options.results
        if options.smallest:
            names, options.budget = ["tied_layers"], "1s"  # takes seconds
            results = pathlib.Path(folder)
        results.mkdir(parents=True, exist_ok=True)
        for name in names:
            place = results / f"{name}.json"
            if not place.exists():
                try:
                    limit = seconds_of(options.limit)
                    found = decided(before[name], options.budget, limit, runs)
                except RuntimeError as error:  # such as images that are missing
                    print(error, flush=True)
                    continue
                written(str(place), found)
                print(f"{name}: {told(found)}", flush=True)
        after = {f.stem: json.loads(f.read_text()) for f in results.glob("*.json")}
    print(totals(before))
    print(totals({**before, **{k: d for k, d in after.items() if d["claims"]}}))


def quick() -> dict[str, dict[str, Any]]:
    """The stored checks of quick size, by the name of the run."""
    files = sorted((RESULTS / "check_quick").glob("*.json"))
    return {file.stem: json.loads(file.read_text()) for file in files}


def by_cost(checks: dict[str, dict[str, Any]]) -> list[str]:
    """Those with an inconclusive claim, by the seconds until the first is decided."""
    costs = {}
    for name, check in checks.items():
        times = [
            times_to_decide(claim)
            for claim in check["claims"]
            if claim["verdict"] == "inconclusive"
        ]
        if times:
            seconds = check["seconds"] or _SECONDS.get(name, 600.0)
            # Claims that seeds do not decide come last, dear experiments later.
            costs[name] = seconds * min(*times, 1000.0)
    return sorted(costs, key=costs.__getitem__)


def times_to_decide(claim: dict[str, Any]) -> float:
    """How many times the seeds would decide a stored claim."""
    number = lambda value, end: end if value is None else float(value)
    seen = Estimate(
        number(claim["value"], math.nan),
        number(claim["low"], -math.inf),
        number(claim["high"], math.inf),
        claim["method"],
        claim["level"],
    )
    low, high = claim["band"]
    band = (number(low, -math.inf), number(high, math.inf))
    of = Claim(claim["statement"], seen, *band, claim["source"])
    needed = seeds_to_decide(of, 1000)
    return math.inf if needed is None else needed / 1000


def decided(
    check: dict[str, Any], budget: str, limit: float, runs: pathlib.Path
) -> dict[str, Any]:
    """The check with more seeds, and what it took; no claims if it was stopped."""
    name, preset = check["experiment"], check["preset"]
    options = ["check", name, "--preset", preset, "--decide", "--budget", budget]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "claims.json"
        where = ["--out", str(runs), "--json", str(file)]
        used, begun = _processor(), time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "simbias", *options, *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            _, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()
            _, said = process.communicate()
        seconds = time.monotonic() - begun
        found = json.loads(file.read_text())[0] if file.exists() else None
    if found is None and process.returncode not in (143, -15):
        raise RuntimeError(f"{run_name(name, preset)}: {_last(said)}")
    document = found or {"experiment": name, "preset": preset, "claims": []}
    return {
        **{k: v for k, v in document.items() if k != "claims"},
        "command": " ".join(["simbias", *options]),
        "seconds": round(seconds, 1),
        "processor_seconds": round(_processor() - used, 1),
        "is_stopped": found is None,
        **machine(),
        "claims": document["claims"],
    }


def _processor() -> float:
    """Seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _last(said: str) -> str:
    return "\n".join(re.split(r"[\r\n]+", said.strip())[-20:])


def told(document: dict[str, Any]) -> str:
    """What was found, in a line."""
    if document["is_stopped"]:
        return f"stopped after {document['seconds']:.0f} s"
    return f"{_count(document['claims'])}; {document['seconds']:.0f} s"


def totals(checks: dict[str, dict[str, Any]]) -> str:
    """Verdicts of all claims."""
    return _count([claim for check in checks.values() for claim in check["claims"]])


def _count(claims: list[dict[str, Any]]) -> str:
    count = collections.Counter(claim["verdict"] for claim in claims)
    return ", ".join(f"{verdict} {count[verdict]}" for verdict in VERDICTS)


if __name__ == "__main__":
    main()
