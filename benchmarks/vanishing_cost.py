"""What does the limit λ → 0 of one training set cost?

The limit of `VanishingStart`, from s = 0 to its end, for the teacher of the experiment
`threshold` (σ = 0.3) with n = 200, d = 5 and m = 200 random directions, by training
set: seconds of the processor after compiling (the least of three), attempts, jumps, and
f on five samples.

    python benchmarks/vanishing_cost.py [--json FILE|-] [--seeds S]
                                        [--n N] [--d D] [--m M] [--smallest]
"""

import argparse
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import load, machine, written

from simbias.core import Dataset, FlowState, Status
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.flows.vanishing_start import VanishingStart
from simbias.losses import half_mse

FLOW = VanishingStart(rtol=1e-4, max_steps=3000)
REPEATS, SHOWN = 3, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--d", type=int, default=5)
    parser.add_argument("--m", type=int, default=200)
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    n, d, m, seeds = options.n, options.d, options.m, options.seeds
    if options.smallest:
        n, d, m, seeds = 5, 2, 4, 1
    rows = [row(seed, n, d, m) for seed in range(seeds)]
    seconds = [r["cpu_seconds"] for r in rows]
    found = {
        "n": n,
        "d": d,
        "m": m,
        "rtol": FLOW.rtol,
        "cpu_seconds": np.quantile(seconds, (0, 0.5, 1)).tolist(),
        "load": load(),
        "rows": rows,
    }
    written(options.json, {**machine(), **found})


@eqx.filter_jit
def first(key, n: int, d: int, m: int):
    """The sample and the state at s = 0."""
    data, network = noisy_teacher(key, n=n, d=d, m=m, scale=1.0, n_test=2)
    return data, FLOW.init(network, data, half_mse, key)


@eqx.filter_jit
def limit(state: FlowState, data: Dataset) -> FlowState:
    """The state at the end of the limit."""
    step = lambda s: FLOW.step(s, data, half_mse, jnp.float64(jnp.inf))
    return jax.lax.while_loop(lambda s: s.status == Status.RUNNING, step, state)


def row(seed: int, n: int, d: int, m: int) -> dict:
    """Of one training set."""
    data, state = first(jax.random.key(seed), n, d, m)
    end, seconds = jax.block_until_ready(limit(state, data)), []
    for _ in range(REPEATS):
        begin = time.process_time()
        jax.block_until_ready(limit(state, data))
        seconds.append(time.process_time() - begin)
    stats, count = end.stats, int(end.stats["jumps"])
    return {
        "seed": seed,
        "cpu_seconds": min(seconds),
        "attempts": int(stats["accepted"] + stats["rejected"]),
        "noninteracting": int(stats["noninteracting"]),
        "status": Status(int(end.status)).name,
        "times": np.asarray(end.memory.time)[:count].tolist(),
        "f": jax.vmap(end.network)(data.x[:SHOWN])[:, 0].tolist(),
    }


if __name__ == "__main__":
    main()
