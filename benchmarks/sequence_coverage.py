"""How often does an interval ever leave the truth while seeds are added?

Values come one after another from a law whose mean, median or share is known.  Of each
path an interval of nominal 95 % is computed at many numbers of seeds, up to `--seeds`;
`coverage` is the share of the paths on which it holds the truth at all of them, and
`fixed` the same of the interval for a fixed number of seeds, on 60 paths.  `width` is
the median width at the last over that of the fixed one.  Sequences of means without
bounds are valid in the limit of many seeds: they are first looked at with `--first`
seeds.  The rows "by rounds" look at 20, 40, 80, … seeds and spend the error over the
rounds, as is done with estimators that have no sequence.

    python benchmarks/sequence_coverage.py [--json FILE|-] [--trials 2000] [--seeds 640]
        [--first 20] [--smallest]
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _laws import UNSEEN, VALUES, Draw
from _results import machine, written

from simbias.analysis.confidence_sequences import (
    mean_sequence,
    median_sequence,
    share_sequence,
)
from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.looks import level_of_look, look
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_interval import median_interval
from simbias.analysis.wilson import wilson
from simbias.core import Estimate

Interval = Callable[[np.ndarray], Estimate]
# Law, its mean, its median, and its bounds if it has some.
LAWS: dict[str, tuple[Draw, float, float, tuple[float, float] | None]] = {
    **{name: (*law, None) for name, law in {**VALUES, **UNSEEN}.items()},
    "Student, 3 degrees": (lambda rng, k: rng.standard_t(3, k), 0.0, 0.0, None),
    "exponential": (
        lambda rng, k: rng.exponential(size=k),
        1.0,
        float(np.log(2)),
        None,
    ),
    "Poisson, mean 1": (lambda rng, k: rng.poisson(1, k).astype(float), 1.0, 1.0, None),
    "Beta(9, 1)": (lambda rng, k: rng.beta(9, 1, k), 0.9, 0.5 ** (1 / 9), (0, 1)),
    "two points, 1 to 9": (
        lambda rng, k: (rng.random(k) < 0.1).astype(float),
        0.1,
        0.0,
        (0, 1),
    ),
    "1, but one in 50 is 0.5": (
        lambda rng, k: 1 - 0.5 * (rng.random(k) < 0.02),
        0.99,
        1.0,
        (0, 1),
    ),
}
SHARES = (0.02, 0.1, 0.3, 0.5)
# Paths on which the interval for a fixed number of seeds is computed as well.
_FIXED = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=640)
    parser.add_argument("--first", type=int, default=20)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    if options.smallest:
        options.trials, options.seeds = 4, 40
    about = {k: getattr(options, k) for k in ("trials", "seeds", "first")}
    rows = []
    for one in every_row(options.trials, options.seeds, options.first):
        rows.append(one)
        if options.json != "-":
            written(options.json, {**about, **machine(), "rows": rows})
    if options.json == "-":
        written("-", {**about, **machine(), "rows": rows})


def every_row(trials: int, seeds: int, first: int) -> Iterator[dict[str, Any]]:
    many, late = at_seeds(6, seeds), at_seeds(first, seeds)
    for law, (draw, mean, median, within) in LAWS.items():
        path = lambda rng, d=draw: d(rng, seeds)
        bounded = lambda v, within=within: mean_sequence(v, within=within)
        of_mean, of_median = mean_interval, median_interval
        ways = [
            ("mean", mean, mean_sequence, of_mean, late),
            # Of every path all numbers of seeds at once: it never takes a value back.
            ("mean, bounded", mean, bounded, of_mean, [seeds]),
            ("median", median, median_sequence, of_median, many),
        ]
        for name, truth, sequence, fixed, at in ways:
            if name != "mean, bounded" or within is not None:
                yield coverage(name, law, path, truth, sequence, fixed, at, trials)
        pooled = lambda v: jackknife_interval(lambda w: float(np.mean(w)), v)
        yield coverage_by_rounds("mean by jackknife", law, path, mean, pooled, trials)
    for share in SHARES:
        path = lambda rng, p=share: (rng.random(seeds) < p).astype(float)
        of = lambda how: lambda v: how(int(v.sum()), v.size)
        yield coverage(
            "share",
            f"{share:g}",
            path,
            share,
            of(share_sequence),
            of(wilson),
            at_seeds(1, seeds),
            trials,
        )


def at_seeds(first: int, last: int) -> list[int]:
    """Numbers of seeds at which it is looked, about 60."""
    return sorted({*np.round(np.geomspace(first, last, 60)).astype(int).tolist()})


def coverage(
    name: str,
    law: str,
    path: Callable[[np.random.Generator], np.ndarray],
    truth: float,
    sequence: Interval,
    fixed: Interval,
    at: list[int],
    trials: int,
) -> dict[str, Any]:
    """One interval, of one law."""
    rng = np.random.default_rng(0)
    held, held_fixed, widths, widths_fixed = 0, 0, [], []
    for _ in range(trials):
        values = path(rng)
        ends = {n: sequence(values[:n]) for n in at}
        held += all(holds(seen, truth) for seen in ends.values())
        if len(widths) < _FIXED:  # a bootstrap is a hundred times the work
            once = [fixed(values[:n]) for n in at]
            held_fixed += all(holds(seen, truth) for seen in once)
            last = ends[at[-1]]
            widths.append(last.high - last.low)
            widths_fixed.append(once[-1].high - once[-1].low)
    width, width_fixed = float(np.median(widths)), float(np.median(widths_fixed))
    return {
        "interval": name,
        "law": law,
        "coverage": held / trials,
        "error": (held * (trials - held) / trials**3) ** 0.5,
        "fixed": held_fixed / len(widths),
        "width": width / width_fixed if width_fixed else None,
        "looks": len(at),
    }


def coverage_by_rounds(
    name: str,
    law: str,
    path: Callable[[np.random.Generator], np.ndarray],
    truth: float,
    interval: Interval,
    trials: int,
) -> dict[str, Any]:
    """One that spends its error over rounds, each with twice the seeds."""
    rng = np.random.default_rng(0)
    held, levels, rounds = 0, [], 0
    for _ in range(trials):
        values = path(rng)
        is_held = True
        sizes = itertools.takewhile(len(values).__ge__, (20 * 2**k for k in range(99)))
        for rounds, n in enumerate(sizes, 1):
            with look(rounds):
                is_held &= holds(interval(values[:n]), truth)
                levels.append(level_of_look(0.95))
        held += is_held
    return {
        "interval": f"{name}, by rounds",
        "law": law,
        "coverage": held / trials,
        "error": (held * (trials - held) / trials**3) ** 0.5,
        "looks": rounds,
        "least_level": min(levels),
        "most_level": max(levels),
    }


def holds(seen: Estimate, truth: float) -> bool:
    return seen.low <= truth <= seen.high


if __name__ == "__main__":
    main()
