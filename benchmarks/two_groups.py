"""Which members of `threshold` end as two regressions?

Beyond n* the theorem has one extremal vector per sign, and so two groups of neurons.
Counts, per n, the members whose train error is nearer to two regressions on their own
sample than to one (within d/2n of σ²), by whether their sample has one extremal vector
of each sign or more.

    python benchmarks/two_groups.py [--run DIR] [--json FILE|-] [--smallest]
"""

import argparse
import dataclasses

import numpy as np
from _results import machine, written

import simbias
from simbias.core import Dataset
from simbias.experiments import threshold as paper
from simbias.flows.descent import Descent
from simbias.results import is_finished, open_result
from simbias.theory.extremal_vectors import extremal_vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", help="a finished `simbias run threshold`")
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    experiment = paper.experiment("quick", **({"m": 10} if options.smallest else {}))
    if options.smallest:
        cell = {**experiment.cell, "n": 20}
        experiment = dataclasses.replace(
            experiment, cell=cell, seeds=2, times=(0.0, 1.0), flow=Descent(), stop=None
        )
    ds = open_result(options.run) if options.run else simbias.simulate(experiment)
    d, sigma = int(ds["d"]), float(ds["sigma"])
    rows = []
    for n in (n for n in np.atleast_1d(ds["n"]).tolist() if n > 2 * d):
        part = ds.sel(n=n) if "n" in ds.dims else ds
        gap = part["two_group_gap"].isel(time=-1).where(is_finished(part)) / sigma**2
        is_near = np.abs(gap.values) <= d / (2 * n)
        counts = [
            most_of_a_sign(simbias.initial(part, experiment, seed=seed)[0])
            for seed in ds["seed"].values.tolist()
        ]
        is_single = np.array(counts) == 1
        rows.append(
            {
                "n": n,
                "one_per_sign": int(is_single.sum()),
                "of_these_two_regressions": int((is_single & is_near).sum()),
                "several": int((~is_single).sum()),
                "of_those_two_regressions": int((~is_single & is_near).sum()),
                "gap_by_seed": gap.values.tolist(),
                "most_of_a_sign_by_seed": counts,
            }
        )
    written(options.json, {**machine(), "rows": rows})


def most_of_a_sign(data: Dataset) -> int:
    """Extremal vectors of the sign that has more of them."""
    value = extremal_vectors(data, samples=60).value
    return int(max(np.sum(value > 0), np.sum(value < 0)))


if __name__ == "__main__":
    main()
