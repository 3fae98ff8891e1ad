"""Long runs of the exact flow: loss, evaluations and events at late times.

    python benchmarks/long_run.py [--problem FILE.npz] [--json FILE|-] [--smallest]
    python benchmarks/long_run.py --seed 1 --rtol 1e-6 1e-7 --times 100 500 3000

Without --problem: a noisy linear teacher (n = 80, m = 400, d = 5, σ = 0.5, weights of
scale 1e-3) to t = 3000 at rtol 1e-4 and 1e-6, with and without the stabilised method,
for three seeds.  With it: that problem (the format of work_precision.py), continued to
t = 800 at rtol 1e-4 … 1e-6, and by Euler's method at steps of 5e-4, kinks ignored.
"""

import argparse
import pathlib
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written
from work_precision import load

from simbias.core import Dataset, Status
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.networks.two_layer import TwoLayer

KEY = jax.random.key(0)
COUNTS = ("evaluations", "accepted", "rejected", "crossings", "slides", "releases")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", type=pathlib.Path)
    parser.add_argument("--seed", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rtol", type=float, nargs="+", default=[1e-4, 1e-6])
    parser.add_argument(
        "--times", type=float, nargs="+", default=[100.0, 300.0, 1000.0, 3000.0]
    )
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    rows = []
    if options.problem:
        given = load(options.problem)
        times = (200.0, 300.0, 400.0, 600.0, 800.0)
        for rtol in (1e-4, 1e-5, 1e-6):
            flow = ReluFlow(rtol=rtol)
            rows += run(flow, given.network, given.data, given.loss, times)
        rows += euler(given.network, given.data, given.loss, times)
    else:
        size, times, seeds = (80, 5, 400), options.times, options.seed
        settings = [(rtol, s) for rtol in options.rtol for s in (True, False)]
        if options.smallest:
            size, times, seeds, settings = (10, 3, 12), [1.0], [0], [(1e-4, True)]
        for seed in seeds:
            data, network = noisy_linear(seed, *size)
            for rtol, stabilise in settings:
                flow = ReluFlow(rtol=rtol, stabilise=stabilise)
                found = run(flow, network, data, half_mse, times)
                rows += [{"seed": seed, **row} for row in found]
    name = options.problem and options.problem.name
    document = {"problem": name, **machine(), "rows": rows}
    written(options.json, document, a_row_a_line=True)


def noisy_linear(seed: int, n: int, d: int, m: int) -> tuple[Dataset, TwoLayer]:
    """y = x·1/√d + noise, and balanced weights of scale 1e-3."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = x @ np.ones(d) / np.sqrt(d) + 0.5 * rng.standard_normal(n)
    w = 1e-3 / np.sqrt(m) * rng.standard_normal((m, d))
    a = np.sign(rng.standard_normal(m)) * np.linalg.norm(w, axis=1)
    y, ones = jnp.asarray(y)[:, None], jnp.ones(n)
    data = Dataset(jnp.asarray(x), y, ones, y, jnp.zeros((0, d)))
    return data, TwoLayer(jnp.asarray(w), jnp.asarray(a)[:, None])


def run(flow, network, data, loss, times) -> list[dict]:
    rows = []
    for until, state, seconds in states(flow, network, data, loss, times):
        stiffness = state.memory.stiffness
        rows.append(
            {
                "rtol": float(flow.rtol),
                "stabilise": flow.stabilise,
                "time": until,
                "loss": loss_of(state, data, loss),
                "status": Status(int(state.status)).name,
                "step": float(state.memory.length),
                "decay_rate": stiffness and float(stiffness.radius),
                **{k: int(state.stats[k]) for k in COUNTS},
                "seconds": seconds,
            }
        )
    return rows


def euler(network, data, loss, times, step: float = 5e-4) -> list[dict]:
    flow = GradientFlow(
        solver=diffrax.Euler(),
        dt0=step,
        is_adaptive=False,
        allow_kinks=True,
        max_steps=10**9,
    )
    return [
        {
            "euler": step,
            "time": until,
            "loss": loss_of(state, data, loss),
            "status": Status(int(state.status)).name,
            "evaluations": int(state.stats["evaluations"]),
            "seconds": seconds,
        }
        for until, state, seconds in states(flow, network, data, loss, times)
    ]


def states(flow, network, data, loss, times):
    """(time, state, seconds so far) at every time."""
    begin = eqx.filter_jit(lambda net: flow.init(net, data, loss, KEY))
    # Compiled with nothing to do first, so that the seconds are those of the run.
    state = advanced(flow, begin(network), data, loss, jnp.asarray(0.0))
    began = time.perf_counter()
    for until in times:
        state = advanced(flow, state, data, loss, jnp.asarray(until))
        jax.block_until_ready(state.time)
        yield until, state, round(time.perf_counter() - began, 3)


def loss_of(state, data, loss) -> float:
    return float(loss(jax.vmap(state.network)(data.x), data.y, data.weight))


@eqx.filter_jit
def advanced(flow, state, data, loss, until):
    return jax.lax.while_loop(
        lambda s: (s.status == Status.RUNNING) & (s.time < until),
        lambda s: flow.step(s, data, loss, until),
        state,
    )


if __name__ == "__main__":
    main()
