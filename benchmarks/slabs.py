"""Are the published numbers on slab data reproduced, and do they depend on the setting?

`published`: the experiments at their published sizes (`quick`), every claim.
`sweep`: SGD and Adam, on LMS-5 with 1 and 2 hidden layers of width 100, 200 and 300, on
MS-5-7 with the published two of 100: updates until the training sample is learned, and
the three AUC.
`long`: LMS-5 for 20,000 updates, without a stop: is the rest learned later?

    python benchmarks/slabs.py [--parts published sweep long] [--json FILE|-]
    python benchmarks/slabs.py --smallest
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from _results import machine, written

from simbias.core import Experiment, Status
from simbias.experiments import slabs
from simbias.flows.descent import Descent
from simbias.verbs.phenomenon import check
from simbias.verbs.simulate import simulate

OPTIMISERS = {
    "SGD": slabs.experiment().flow,
    "Adam": Descent(rate=1e-3, optimiser="adam", batch=256, weight_decay=5e-5),
}
# Law, numbers of hidden layers, widths.
SWEPT = (("LMS-5", (1, 2), (100, 200, 300)), ("MS-5-7", (2,), (100,)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    document: dict[str, Any] = machine()
    if options.smallest:
        document["published"] = [experiment_row(slabs, "smoke")]
    else:
        document |= {part: list(PARTS[part]()) for part in options.parts}
    written(options.json, document)


def published() -> Iterator[dict[str, Any]]:
    for preset in ("quick", "noisy", "adversarial"):
        yield experiment_row(slabs, preset)


def experiment_row(module: Any, preset: str) -> dict[str, Any]:
    """Every claim of an experiment, and the work of every member."""
    ds, seconds = timed(module.experiment(preset))
    return {
        "experiment": ds.attrs["experiment"],
        "preset": preset,
        "seconds": seconds,
        "updates": ds["accepted"].values.tolist(),
        "axes": {k: ds[k].values.tolist() for k in ds["accepted"].dims},
        "claims": [
            {**dataclasses.asdict(claim), "verdict": claim.verdict}
            for claim in check(module, ds)
        ],
    }


def sweep() -> Iterator[dict[str, Any]]:
    for law, depths, widths in SWEPT:
        for name, flow in OPTIMISERS.items():
            one = slabs.experiment(law=law, depth=depths, m=widths, start=0)
            times = tuple(flow.rate * round(t / slabs.RATE) for t in one.times)
            ds, seconds = timed(
                dataclasses.replace(one, flow=flow, times=times, seeds=1)
            )
            for depth in depths:
                for m in widths:
                    cell = ds.sel(depth=depth, m=m).isel(seed=0)
                    row = {"law": law, "optimiser": name, "depth": depth, "m": m}
                    yield {**row, **summary(cell), "seconds_of_all": seconds}


def long() -> Iterator[dict[str, Any]]:
    one = slabs.experiment(law="LMS-5", start=0)
    for updates in (1000, 20_000):
        times = (0.0, slabs.RATE * updates)
        ds, seconds = timed(dataclasses.replace(one, times=times, seeds=1, stop=None))
        yield {"law": "LMS-5", **summary(ds.isel(seed=0)), "seconds": seconds}


def summary(cell: xr.Dataset) -> dict[str, Any]:
    last = cell.isel(time=-1)
    share = cell["feature_dependence"].sel(dependence="variance_share").values
    return {
        "status": Status(int(cell["status"])).name,
        "updates": int(cell["accepted"]),
        "train_loss": float(last["train_loss"]),
        "train_accuracy": float(last["train_accuracy"]),
        "auc": np.round(last["scores"].sel(score="auc").values, 5).tolist(),
        "variance_share_of_the_first": round(float(share[0]), 5),
        "largest_of_the_rest": round(float(share[1:].max()), 5),
    }


def timed(experiment: Experiment) -> tuple[xr.Dataset, float]:
    began = time.perf_counter()
    ds = simulate(experiment)
    return ds, round(time.perf_counter() - began, 1)


PARTS = {"published": published, "sweep": sweep, "long": long}


if __name__ == "__main__":
    main()
