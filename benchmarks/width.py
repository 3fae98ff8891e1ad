"""What does a member cost from a small start to a proven limit, phase by phase?

Two layers of m neurons on n samples of a noisy linear teacher in d = 5, from λ = 1e-8
or any other: CPU seconds (without compiling), steps, evaluations and crossings of

    alone      while no neuron feels another,
    escape     from there to twice that time, in which those that grew turn together,
    rest       up to the time at which `Stationary` has proven the limit,
    proof      looking for one.

    python benchmarks/width.py [--n N ...] [--m M ...] [--d D] [--scale S ...]
        [--json FILE|-] [--smallest]
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
from simbias.stops.stationary import Stationary

KEY = jax.random.key(0)
# Between two looks for a proof, and when none is looked for any more.
TIMES = np.geomspace(1, 10_000, 60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", nargs="+", type=int, default=[400])
    parser.add_argument("--m", nargs="+", type=int, default=[100, 1000, 10_000])
    parser.add_argument("--d", type=int, default=5)
    parser.add_argument("--scale", nargs="+", type=float, default=[1e-8])
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes = [(n, m) for n in options.n for m in options.m]
    if options.smallest:
        sizes = [(12, 6)]
    rows = [
        {"scale": scale, **row}
        for scale in options.scale
        for size in sizes
        for row in phases(*size, options.d, scale)
    ]
    about = {"d": options.d, "sigma": 0.3, "rtol": 1e-4, **machine()}
    written(options.json, {**about, "rows": rows})


def phases(n: int, m: int, d: int, scale: float) -> list[dict]:
    """One member, step by step."""
    data, network = make(KEY, n=n, m=m, d=d, sigma=0.3, scale=scale, n_test=1)
    flow, stop = ReluFlow(rtol=1e-4, decouple=True), Stationary()
    step, ask = eqx.filter_jit(flow.step), eqx.filter_jit(stop.status)
    at = jnp.float64(TIMES[-1])
    state = eqx.filter_jit(flow.init)(network, data, half_mse, KEY)
    jax.block_until_ready(step(state, data, half_mse, jnp.float64(1e-9)).time)
    jax.block_until_ready(ask(network, data, half_mse))
    rows = {
        name: _row(n, m, name) for name in ("noninteracting", "escape", "rest", "proof")
    }
    looks, is_alone, escaped = iter(TIMES), True, np.inf
    look, status = next(looks), Status.RUNNING
    while status == Status.RUNNING and float(state.time) < TIMES[-1]:
        before, began = counts(state), time.process_time()
        state = jax.block_until_ready(step(state, data, half_mse, at))
        seconds = time.process_time() - began
        change = {k: v - before[k] for k, v in counts(state).items()}
        if is_alone and change["evaluations"] > 1:
            is_alone, escaped = False, float(state.time)
        late = "escape" if float(state.time) < 2 * escaped else "rest"
        row = rows["noninteracting" if is_alone else late]
        row["seconds"] += seconds
        row["until"] = float(state.time)
        for name, value in change.items():
            row[name] += value
        status = Status(int(state.status))
        if float(state.time) >= look and status == Status.RUNNING:
            began = time.process_time()
            status = Status(int(ask(state.network, data, half_mse)))
            rows["proof"]["seconds"] += time.process_time() - began
            rows["proof"]["until"] = float(state.time)
            while look <= float(state.time):
                look = next(looks, np.inf)
    rows["proof"]["status"] = status.name
    return list(rows.values())


def counts(state) -> dict[str, int]:
    names = ("accepted", "rejected", "evaluations", "crossings", "slides", "releases")
    return {name: int(state.stats[name]) for name in names}


def _row(n: int, m: int, phase: str) -> dict:
    row = {"n": n, "m": m, "phase": phase, "seconds": 0.0, "until": 0.0}
    names = ("accepted", "rejected", "evaluations", "crossings", "slides", "releases")
    return row | dict.fromkeys(names, 0)


if __name__ == "__main__":
    main()
