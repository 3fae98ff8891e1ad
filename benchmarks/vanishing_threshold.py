"""n* at λ = 0 and t = ∞: which training sets are interpolated in the limit λ → 0.

The teacher of the experiment `threshold` (σ = 0.3) and `VanishingStart`, m = 200
neurons of random directions, and m = 400 at some sizes.  For each d and n: how many
networks interpolate (train error below 1 % of σ²), how many limits are not known (ties
and orbits that did not end), and n*, the size of half, with the unknown counted
both ways.

    python benchmarks/vanishing_threshold.py [--json FILE|-] [--seeds S] [--d D …]
                                             [--m M …] [--smallest]
"""

import argparse
import dataclasses
import time

import jax
import numpy as np
from _results import machine, written

from simbias.core import Status
from simbias.experiments import threshold as paper
from simbias.experiments.interpolation._rest import known_limits, size_of_half
from simbias.flows.vanishing_start import VanishingStart
from simbias.measures.risk.train_risk import TrainRisk
from simbias.verbs.simulate import simulate

SIZES = {2: (4, 6, 8, 12, 16, 24), 3: (5, 8, 12, 18, 27), 5: (8, 12, 18, 27, 40)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--d", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--m", type=int, nargs="+", default=[200])
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes, widths, seeds = SIZES, options.m, options.seeds
    if options.smallest:
        sizes, widths, seeds = {2: (4,)}, [10], 2
    rows = [row(d, m, sizes[d], seeds) for d in options.d if d in sizes for m in widths]
    written(options.json, {**machine(), "seeds": seeds, "rows": rows})


def row(d: int, m: int, sizes: tuple[int, ...], seeds: int) -> dict:
    """Of one dimension and width."""
    begin = time.process_time()
    ds = simulate(
        dataclasses.replace(
            paper.experiment("quick", n=sizes, d=d, m=m, n_test=2),
            seeds=seeds,
            root=4800,
            shared=("n", "m"),
            pad_to=max(sizes),
            flow=VanishingStart(rtol=1e-4, max_steps=3000),
            times=(1e6,),
            measures={"train_risk": TrainRisk()},
            final={},
            stop=None,
        )
    )
    known = known_limits(ds)
    verdict = known["interpolates"].transpose("n", "seed")
    status, jumps = ds["status"].values, ds["jumps"].transpose("n", "seed").values
    half = size_of_half(verdict) if len(sizes) > 1 else None
    return {
        "d": d,
        "m": m,
        "n": list(sizes),
        "interpolated": (verdict == 1).sum("seed").values.tolist(),
        "unknown": verdict.isnull().sum("seed").values.tolist(),
        "statuses": {s.name: int(np.sum(status == s)) for s in Status},
        "mean_jumps": jumps.mean(axis=1).tolist(),
        "n_star": dataclasses.asdict(half) if half else None,
        "cpu_seconds": time.process_time() - begin,
    }


if __name__ == "__main__":
    main()
