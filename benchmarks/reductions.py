"""Does the exact flow need both of its reductions?

A wide network whose neurons have few activation classes is moved in two cheaper ways:
by representatives of each class within a step (`class_basis`), and by a narrow network
in place of the wide one for several steps (`aggregation`).  Here the same networks run
with both, with either and with none, to a proven limit or to the last time.  Seconds
are of the processor, without compiling, the least of `--repeats`, which alternate
between the ways.  `ratio` is seconds over those with both; `difference` is the root
mean square of f less f with both, relative to the latter.

    python benchmarks/reductions.py [--case NAME ...] [--repeats N] [--json FILE|-]
        [--smallest]
"""

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from _results import machine, written
from time_to_limit import Run, Start, reached, root_mean_square

from simbias.experiments.interpolation.threshold import make
from simbias.flows import relu_flow
from simbias.flows._relu import frozen_step
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.stops.stationary import Stationary

# n, m, d, λ and the last time.
CASES = {
    "smallest": (10, 30, 5, 1e-8, 1.0),
    "d=5, 20x200": (20, 200, 5, 1e-8, 3000.0),
    "d=5, 100x200": (100, 200, 5, 1e-8, 3000.0),
    "d=5, 100x2000": (100, 2000, 5, 1e-8, 3000.0),
    "d=5, 100x10000": (100, 10_000, 5, 1e-8, 3000.0),
    "d=5, 400x2000": (400, 2000, 5, 1e-8, 3000.0),
    "d=2, 16x200": (16, 200, 2, 1e-8, 3000.0),
    "d=2, 16x2000": (16, 2000, 2, 1e-8, 3000.0),
    "d=1, 12x2000": (12, 2000, 1, 1e-3, 3000.0),
    "d=5, 100x2000, λ = 0.001": (100, 2000, 5, 1e-3, 1000.0),
    "d=5, 100x200, λ = 0.1": (100, 200, 5, 0.1, 100.0),
    "d=20, 200x200, λ = 0.01": (200, 200, 20, 1e-2, 100.0),
}
WAYS = {
    "both": (True, True),
    "classes": (True, False),
    "aggregation": (False, True),
    "none": (False, False),
}
SIGMA, KEY, RECORDS = 0.3, jax.random.key(0), 40
MOST_STEPS = 10**6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [name for name in CASES if name != "smallest"]
    parser.add_argument("--case", nargs="+", choices=CASES, default=names)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=120.0)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    ways = WAYS
    if options.smallest:
        options.case, options.repeats = ["smallest"], 1
        ways = {way: WAYS[way] for way in ("both", "none")}
    rows: list[dict[str, Any]] = []
    for case in options.case:
        rows += compared(case, ways, options.repeats, options.patience)
        if options.json != "-":
            written(options.json, {"sigma": SIGMA, **machine(), "rows": rows})
    if options.json == "-":
        written("-", {"sigma": SIGMA, **machine(), "rows": rows})


def compared(
    case: str, ways: dict[str, tuple[bool, bool]], repeats: int, patience: float
) -> list[dict[str, Any]]:
    """Every way, of one network."""
    n, m, d, scale, final = CASES[case]
    data, network = make(KEY, n=n, d=d, m=m, sigma=SIGMA, scale=scale, n_test=1)
    start = Start(network, data, half_mse, 1.0)
    times = tuple(np.geomspace(final / 150, final, RECORDS).tolist())
    runs: dict[str, list[Run]] = {way: [] for way in ways}
    for _ in range(repeats):
        for i, (way, (classes, aggregation)) in enumerate(ways.items()):
            # A program of its own for each way, which the repeats find again.
            flow = ReluFlow(rtol=1e-4, max_steps=MOST_STEPS + i)
            with only(classes=classes, aggregation=aggregation):
                runs[way].append(reached(start, flow, times, Stationary(), patience))
    jax.clear_caches()
    least = {way: min(run.seconds for run in those) for way, those in runs.items()}
    f = runs["both"][0].f
    return [
        {
            "case": case,
            **dict(zip(("n", "m", "d", "scale"), (n, m, d, scale), strict=True)),
            "way": way,
            "seconds": least[way],
            "ratio": least[way] / least["both"],
            "evaluations": those[0].evaluations,
            "time": those[0].time,
            "status": those[0].status.name,
            "difference": root_mean_square(those[0].f - f) / root_mean_square(f),
        }
        for way, those in runs.items()
    ]


@contextlib.contextmanager
def only(*, classes: bool, aggregation: bool) -> Iterator[None]:
    """Programs that are traced here have these reductions."""
    kept = frozen_step._basis, relu_flow.aggregated_steps
    if not classes:
        frozen_step._basis = lambda *_: None
    if not aggregation:
        relu_flow.aggregated_steps = lambda _, state, *__: state
    try:
        yield
    finally:
        frozen_step._basis, relu_flow.aggregated_steps = kept


if __name__ == "__main__":
    main()
