"""What does it cost to come through the early phase, neuron by neuron or together?

From a start of 1e-8 up to a time at which the loss is about to move: seconds of the
processor (without compiling), evaluations, crossings, and how far apart the ends are.

    python benchmarks/alignment.py [--case NAME ...] [--json FILE|-] [--smallest]
"""

import argparse
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written

from simbias.core import Status
from simbias.experiments.interpolation.threshold import make
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse

# n, m, and the final time: about two thirds of ln(1/λ) over the fastest rate.
CASES = {
    "smallest": (20, 20, 2.0),
    "narrow": (400, 1000, 12.0),
    "wide": (400, 10_000, 12.0),
    "many": (6400, 200, 10.0),
}
KEY = jax.random.key(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs="+", choices=CASES, default=["narrow", "many"])
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    cases = ["smallest"] if options.smallest else options.case
    rows = [row for case in cases for row in compared(case)]
    written(options.json, {"scale": 1e-8, "d": 5, **machine(), "rows": rows})


def compared(case: str) -> list[dict]:
    """Both ways, of one network."""
    n, m, until = CASES[case]
    data, network = make(KEY, n=n, m=m, sigma=0.5, scale=1e-8, n_test=1)
    rows, ends = [], []
    for name, decouple in (("by itself", True), ("together", False)):
        flow = ReluFlow(rtol=1e-5, decouple=decouple)
        state, seconds = flowed(flow, network, data, until)
        ends.append(np.asarray(state.network.w))
        stats = {k: int(v) for k, v in state.stats.items()}
        rows.append({"case": case, "n": n, "m": m, "time": until, "contender": name})
        rows[-1] |= {"seconds": seconds, **stats}
    apart = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1])
    return [row | {"relative_distance": float(apart)} for row in rows]


def flowed(flow, network, data, until: float):
    """The state at a time, and the processor's seconds after compiling."""
    step = eqx.filter_jit(flow.step)
    at = jnp.float64(until)
    start = eqx.filter_jit(flow.init)(network, data, half_mse, KEY)
    jax.block_until_ready(step(start, data, half_mse, jnp.float64(1e-9)).time)
    state, began = start, time.process_time()
    while int(state.status) == Status.RUNNING and float(state.time) < until:
        state = step(state, data, half_mse, at)
    return state, time.process_time() - began


if __name__ == "__main__":
    main()
