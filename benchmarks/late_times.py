"""Does a trajectory converge at late times, and to what?

Train error of the same members at late times, under the exact flow as its tolerance
falls and under gradient descent as its rate falls.  Members leave saddles late; a
perturbation of the size of a step decides when.

    python benchmarks/late_times.py [--json FILE|-] [--smallest]
"""

import argparse
import dataclasses

import jax
from _results import machine, written

from simbias.experiments import threshold as paper
from simbias.flows.descent import Descent
from simbias.flows.relu_flow import ReluFlow
from simbias.verbs.simulate import simulate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    flows = [ReluFlow(rtol=r) for r in (1e-4, 1e-5, 1e-6, 1e-7)]
    flows += [Descent(rate=r) for r in (0.2, 0.05, 0.01, 0.003)]
    cell, times = (
        {"n": 100, "m": 200, "n_test": 500, "scale": 1e-3},
        (300.0, 1000.0, 2000.0, 3000.0),
    )
    if options.smallest:
        flows, cell, times = [flows[0], flows[4]], {**cell, "n": 8, "m": 10}, (5.0,)
    base = paper.experiment("smoke", **cell)
    if options.smallest:
        base = dataclasses.replace(base, stop=None)
    rows = []
    for flow in flows:
        ds = simulate(dataclasses.replace(base, flow=flow, seeds=2, times=times))
        is_exact = isinstance(flow, ReluFlow)
        rows.append(
            {
                "flow": "exact" if is_exact else "gradient descent",
                "rtol" if is_exact else "rate": flow.rtol if is_exact else flow.rate,
                "times": times,
                "train_risk_by_seed": ds["train_risk"].values.tolist(),
                "evaluations_by_seed": ds["evaluations"].values.tolist(),
            }
        )
    written(options.json, {"cell": cell, **machine(), "rows": rows})


if __name__ == "__main__":
    main()
