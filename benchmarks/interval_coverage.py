"""How often does each interval hold the truth, at the numbers of seeds that are used?

For every estimator of `simbias.analysis` that gives an interval, values are drawn from
laws whose truth is known, and the intervals of nominal 95 % that hold it are counted.
Shares need no drawing: their coverage is a sum over the counts.  An interval without
ends, where the estimator refuses, holds anything; `refused` is how often.

Rows marked as unseen are means of laws whose far values six or eight seeds often miss;
no coverage is promised for them.  Of `slope_interval` and `auc_interval` the `seeds`
are points, and samples of a class.

    python benchmarks/interval_coverage.py [--json FILE|-] [--trials 1000] [--smallest]
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from _laws import SIZES, UNSEEN, VALUES, rising, scaled, successes
from _results import machine, written
from scipy import stats

from simbias.analysis.auc_interval import auc_interval
from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.largest_interpolated import largest_interpolated
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_crossing import median_crossing
from simbias.analysis.median_interval import median_interval
from simbias.analysis.power_law import power_law
from simbias.analysis.slope_interval import slope_interval
from simbias.analysis.threshold import threshold
from simbias.analysis.wilson import wilson

SEEDS = (4, 6, 8, 16, 20)
# Where an interval is replaced, or its use refused.
LEAST = 0.93
# An estimate, or a threshold, and the truth.
Trial = Callable[[np.random.Generator], tuple[Any, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    trials = 10 if options.smallest else options.trials
    rows = [*every_row(trials)]
    written(options.json, {**machine(), "rows": rows})


def every_row(trials: int) -> Iterator[dict[str, Any]]:
    for seeds in SEEDS:
        for laws, is_unseen in ((VALUES, False), (UNSEEN, True)):
            for law, (draw, mean, median) in laws.items():
                yield row(
                    "mean_interval",
                    law,
                    seeds,
                    trials,
                    lambda rng, d=draw, k=seeds, m=mean: (mean_interval(d(rng, k)), m),
                    is_unseen=is_unseen,
                )
                yield row(
                    "median_interval",
                    law,
                    seeds,
                    trials,
                    lambda rng, d=draw, k=seeds, m=median: (
                        median_interval(d(rng, k)),
                        m,
                    ),
                )
        for law, trial in (*ratios(seeds), *thresholds(seeds)):
            name, law = law
            yield row(name, law, seeds, trials, trial)
        # A bootstrap is forty times the work.
        yield row(
            "power_law", "shared draws", seeds, max(trials // 5, 10), exponent(seeds)
        )
        yield from shares(seeds)
    for points in (3, 4, 6, 8):
        yield row("slope_interval", "normal", points, trials, line(points))
    for size in (100, 1000):
        for auc in (0.5, 0.9, 0.995):
            yield row("auc_interval", f"AUC {auc:g}", size, trials, scores(size, auc))


def row(
    estimator: str,
    law: str,
    seeds: int,
    trials: int,
    trial: Trial,
    *,
    is_unseen: bool = False,
) -> dict[str, Any]:
    """Coverage over `trials` of trial(rng) -> (estimate, truth)."""
    # One generator per row: a row does not depend on its companions.
    name = [ord(c) for c in f"{estimator}{law}"]
    rng = np.random.default_rng([*name, seeds])
    held = refused = 0
    widths = []
    for _ in range(trials):
        seen, truth = trial(rng)
        held += seen.low <= truth <= seen.high
        refused += not (np.isfinite(seen.low) and np.isfinite(seen.high))
        widths.append(seen.high - seen.low)
    width = float(np.median(widths))
    return {
        "estimator": estimator,
        "law": law,
        "seeds": seeds,
        "coverage": held / trials,
        "error": round((held / trials * (1 - held / trials) / trials) ** 0.5, 4),
        "refused": refused / trials,
        "median_width": width if np.isfinite(width) else None,
        "is_unseen": is_unseen,
    }


def ratios(seeds: int) -> Iterator[tuple[tuple[str, str], Trial]]:
    """What the jackknife is used for: ratios of means, medians of pooled neurons."""

    def ratio(rng: np.random.Generator) -> tuple[Any, float]:
        first = np.exp(rng.normal(0, 0.3, seeds))
        pairs = np.stack([1.5 * first * np.exp(rng.normal(0, 0.2, seeds)), first], 1)
        found = jackknife_interval(lambda v: np.divide(*v.mean(axis=0)), pairs)
        return found, 1.5 * float(np.exp(0.02))

    def pooled(rng: np.random.Generator) -> tuple[Any, float]:
        own = rng.normal(0, 0.3, (seeds, 1))
        return jackknife_interval(np.median, own + rng.normal(0, 1, (seeds, 30))), 0.0

    yield ("jackknife_interval", "ratio of means"), ratio
    yield ("jackknife_interval", "median of 30 neurons per seed"), pooled


def thresholds(seeds: int) -> Iterator[tuple[tuple[str, str], Trial]]:
    """n* by its three definitions, of members that share their draw or do not."""
    for is_shared in (False, True):
        how = "shared draws" if is_shared else "own draws"
        for slope in (2.0, 4.0, 12.0):

            def logistic(rng: Any, s: float = slope, h: bool = is_shared) -> Any:
                at = np.exp(rng.uniform(np.log(15), np.log(120)))
                return threshold(grid(successes(rng, at, s, seeds, h))), at

            yield ("threshold", f"{how}, slope {slope:g}"), logistic
        for definition in (median_crossing, largest_interpolated):

            def crossing(rng: Any, f: Any = definition, h: bool = is_shared) -> Any:
                at = np.exp(rng.uniform(np.log(15), np.log(120)))
                return f(grid(rising(rng, at, seeds, h)), 1.0), at

            yield (definition.__name__, how), crossing


def exponent(seeds: int) -> Trial:
    def trial(rng: np.random.Generator) -> tuple[Any, float]:
        q, values = scaled(rng, 0.5, seeds)
        array = xr.DataArray(values, {"q": q, "n": SIZES}, ("q", "n", "seed"))
        return power_law(array, 1.0, along="q", resamples=500), 0.5

    return trial


def line(points: int) -> Trial:
    x = np.arange(float(points))
    return lambda rng: (slope_interval(x, x + rng.standard_normal(points)), 1.0)


def scores(size: int, auc: float) -> Trial:
    """Normal scores of two classes of `size`, apart so that the AUC is `auc`."""
    apart = np.sqrt(2) * stats.norm.ppf(auc)

    def trial(rng: np.random.Generator) -> tuple[Any, float]:
        positive, negative = rng.normal(apart, 1, size), rng.normal(0, 1, size)
        won = stats.mannwhitneyu(positive, negative).statistic / size**2
        return auc_interval(float(won), size, size), auc

    return trial


def shares(seeds: int) -> Iterator[dict[str, Any]]:
    """Exact coverage of the shares; the worst of a thousand comes last."""
    found = [wilson(k, seeds) for k in range(seeds + 1)]
    low, high = (np.array([getattr(e, k) for e in found]) for k in ("low", "high"))
    held = lambda p: float(
        stats.binom.pmf(np.arange(seeds + 1), seeds, p) @ ((low <= p) & (p <= high))
    )
    worst = min(np.linspace(0.001, 0.999, 999), key=held)
    for p, law in (
        *((p, f"share {p:g}") for p in (0.02, 0.1, 0.5, 0.9, 0.98)),
        (float(worst), f"share {worst:.3f}, the worst"),
    ):
        yield {
            "estimator": "wilson",
            "law": law,
            "seeds": seeds,
            "coverage": round(held(p), 4),
            "error": 0.0,
            "refused": 0.0,
            "median_width": float(np.median(high - low)),
            "is_unseen": False,
        }


def grid(values: np.ndarray) -> xr.DataArray:
    return xr.DataArray(values, {"n": SIZES}, ("n", "seed"))


if __name__ == "__main__":
    main()
