"""Does the optimisation threshold depend on how the flow is discretised?

The same members (data and start) under the exact flow, under gradient descent at three
rates, and under diffrax's Tsit5 at a loose tolerance with the kinks ignored.  Prints
n* with its interval per method and, per n, the share of members whose verdict
(interpolates or not) differs from the exact flow's.

    python benchmarks/discretisation.py [--seeds 50] [--json FILE|-] [--smallest]
"""

import argparse
import dataclasses
import time

import jax
import numpy as np
from _results import machine, written

from simbias.analysis.threshold import threshold
from simbias.core import AbstractFlow
from simbias.experiments import threshold as paper
from simbias.experiments._times import log_times
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.results import is_failed, is_finished
from simbias.verbs.simulate import simulate

METHODS = {
    "exact flow, rtol 1e-5": ReluFlow(rtol=1e-5),
    "exact flow, rtol 1e-3": ReluFlow(rtol=1e-3),
    "GD, rate 0.3": Descent(rate=0.3),
    "GD, rate 0.1": Descent(rate=0.1),
    "GD, rate 0.01": Descent(rate=0.01),
    "Tsit5, rtol 1e-3, kinks ignored": GradientFlow(
        rtol=1e-3, atol=1e-6, allow_kinks=True
    ),
}
# The exact flow and gradient descent.
SMALLEST = ("exact flow, rtol 1e-5", "GD, rate 0.1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[5, 8, 12, 18, 27])
    parser.add_argument("--m", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--time", type=float, default=1000.0)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    methods = METHODS
    if options.smallest:
        options.n, options.m, options.seeds, options.time = [7, 8], 10, 1, 2.0
        methods = {name: METHODS[name] for name in SMALLEST}
    jax.config.update("jax_enable_x64", True)
    rows = compare(options, methods)
    document = {"options": vars(options), **machine(), "methods": rows}
    written(options.json, document)


def compare(
    options: argparse.Namespace, methods: dict[str, AbstractFlow]
) -> list[dict]:
    rows, exact = [], None
    base = paper.experiment("quick", n=tuple(options.n), m=options.m, scale=1e-3)
    if options.smallest:
        base = dataclasses.replace(base, stop=None)
    base = dataclasses.replace(
        base, seeds=options.seeds, times=log_times(1.0, options.time, 20)
    )
    for name, flow in methods.items():
        began = time.perf_counter()
        ds = simulate(dataclasses.replace(base, flow=flow), progress=True)
        verdict = paper.interpolates(ds)
        exact = verdict if exact is None else exact
        n_star = threshold(verdict)
        both = verdict.notnull() & exact.notnull()
        changed = ((verdict != exact) & both).sum("seed") / both.sum("seed")
        rows.append(
            {
                "method": name,
                "n_star": n_star.describe(),
                "share_interpolating": verdict.mean("seed").values.tolist(),
                "share_of_verdicts_changed": changed.values.tolist(),
                "median_train_risk": ds["train_risk"][..., -1]
                .median("seed")
                .values.tolist(),
                "median_excess_risk": ds["excess_risk"][..., -1]
                .median("seed")
                .values.tolist(),
                "median_evaluations": float(np.median(ds["evaluations"])),
                "finished": int(is_finished(ds).sum()),
                "failed": int(is_failed(ds).sum()),
                "seconds": round(time.perf_counter() - began, 1),
            }
        )
    return rows


if __name__ == "__main__":
    main()
