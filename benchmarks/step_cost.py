"""What does one event-handled step cost, beside a plain step of the same order?

Vmapped lanes at several times of a noisy linear problem: one attempt of the exact flow
and one of Tsit5 with the kinks ignored, from the same weights, timed in turn.

    python benchmarks/step_cost.py [--json FILE|-] [--smallest]
"""

import argparse
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written

from simbias.experiments.interpolation.threshold import make
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse

KEY = jax.random.key(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    n, m, repeats, times = 200, 1000, 11, (3.0, 10.0, 30.0)
    if options.smallest:
        n, m, repeats, times = 10, 10, 3, (1.0,)
    draws = [
        make(k, n=n, m=m, sigma=0.5, scale=1e-3, n_test=1)
        for k in jax.random.split(KEY, 2)
    ]
    data, network = jax.tree.map(lambda *v: jnp.stack(v), *draws)
    exact = ReluFlow(rtol=1e-5)
    plain = GradientFlow(
        solver=diffrax.Tsit5(scan_kind="lax"), rtol=1e-4, allow_kinks=True
    )
    state, rows = started(exact, network, data), []
    for until in times:
        state = advanced(exact, state, data, jnp.asarray(until))
        other = started(plain, state.network, data)
        # A step before the one that is timed: a first step is not like the others.
        other = stepped(plain, other, data)
        seconds = [
            (timed(exact, state, data), timed(plain, other, data))
            for _ in range(repeats)
        ]
        with_events, without = np.median(seconds, axis=0)
        rows.append(
            {
                "time": until,
                "milliseconds_exact": 1e3 * with_events,
                "milliseconds_plain": 1e3 * without,
                "ratio": with_events / without,
                "crossings_so_far": np.asarray(state.stats["crossings"]).tolist(),
            }
        )
    document = {"n": n, "m": m, "d": 5, "lanes": 2, **machine(), "rows": rows}
    written(options.json, document)


@eqx.filter_jit
def started(flow, network, data):
    begin = lambda net, sample: flow.init(net, sample, half_mse, KEY)
    return eqx.filter_vmap(begin)(network, data)


@eqx.filter_jit
def stepped(flow, state, data):
    step = lambda s, sample: flow.step(s, sample, half_mse, s.time + 1e6)
    return eqx.filter_vmap(step)(state, data)


@eqx.filter_jit
def advanced(flow, state, data, until):
    step = lambda s, sample: flow.step(s, sample, half_mse, until)
    return jax.lax.while_loop(
        lambda s: jnp.any((s.status == 0) & (s.time < until)),
        lambda s: eqx.filter_vmap(step)(s, data),
        state,
    )


def timed(flow, state, data) -> float:
    began = time.perf_counter()
    jax.block_until_ready(stepped(flow, state, data).time)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
