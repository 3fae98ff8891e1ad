"""Does the exact flow get through any problem? 200 random ones, to time 100.

Dimensions 2, 3, 5, 10; 5 to 200 samples; regression on noise (half_mse) or random
labels (logistic); ReLU and leaky ReLU; initial scales 1e-3 to 1; rtol 1e-4.  A run that
does not reach its end is counted by its status; the smallest step and the largest
number of evaluations are reported, and by how many tolerances the difference
|a|² − |w|² of a neuron, which the flow keeps, drifts in relation to their sum.  One
stiff problem (5 samples, rates far apart) is followed to time 1000 for the drift alone,
at several tolerances, with and without stabilised steps.

    python benchmarks/random_problems.py [--json FILE|-] [--smallest]
"""

import argparse
import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written

from simbias.core import Dataset, Status
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse, logistic
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

KEY = jax.random.key(0)
LOSSES = {"half_mse": half_mse, "logistic": logistic}
MOST, NEURONS = 200, 60
RTOL = 1e-4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    count, until = (1, 1.0) if options.smallest else (200, 100.0)
    rows = [solved(seed, until) for seed in range(count)]
    statuses = [row["status"] for row in rows]
    summary = {
        "problems": count,
        "until": until,
        "statuses": {s: statuses.count(s) for s in sorted(set(statuses))},
        "smallest_mean_step": min(row["mean_step"] for row in rows),
        "most_evaluations": max(row["evaluations"] for row in rows),
        "losses_that_grew": sum(row["loss_end"] > row["loss_start"] for row in rows),
        "largest_drift_over_rtol": max(row["drift_over_rtol"] for row in rows),
        "stiff": [
            stiff(rtol, is_stabilised, 10 * until)
            for rtol in ((1e-4,) if options.smallest else (1e-3, 1e-4, 1e-5, 1e-6))
            for is_stabilised in ((True,) if options.smallest else (True, False))
        ],
    }
    document = {**summary, **machine(), "rows": rows}
    written(options.json, document, a_row_a_line=True)
    if options.json != "-":
        print(json.dumps(summary))


def solved(seed: int, until: float) -> dict:
    """One problem; samples are padded to one size, so that few programs compile."""
    rng = np.random.default_rng(seed)
    # Settings that need a program of their own are dealt out evenly.
    d = (2, 3, 5, 10)[seed % 4]
    name = ("half_mse", "logistic")[seed // 4 % 2]
    slope = (0.0, 0.1)[seed // 8 % 2]
    n = int(np.exp(rng.uniform(np.log(5), np.log(MOST + 1))))
    scale = 10 ** rng.uniform(-3, 0)
    x = np.zeros((MOST, d))
    x[:n] = rng.standard_normal((n, d))
    y = np.zeros((MOST, 1))
    y[:n, 0] = rng.standard_normal(n)
    if name == "logistic":
        y = np.sign(y)
    w = scale / np.sqrt(NEURONS) * rng.standard_normal((NEURONS, d))
    a = np.sign(rng.standard_normal(NEURONS)) * np.linalg.norm(w, axis=1)
    weight = jnp.asarray(np.arange(MOST) < n, float)
    x, y, w, a = map(jnp.asarray, (x, y, w, a[:, None]))
    data = Dataset(x, y, weight, y, jnp.zeros((0, d)))
    network = TwoLayer(w, a, activation=LeakyRelu(slope) if slope else jax.nn.relu)
    flow, loss = ReluFlow(rtol=RTOL), LOSSES[name]
    state = run(flow, network, data, loss, until)
    value = lambda net: float(loss(jax.vmap(net)(x), y, weight))
    return {
        "seed": seed,
        "d": d,
        "n": n,
        "loss": name,
        "slope": slope,
        "scale": scale,
        "status": Status(int(state.status)).name,
        "time": float(state.time),
        "mean_step": float(state.time) / max(int(state.stats["accepted"]), 1),
        "loss_start": value(network),
        "loss_end": value(state.network),
        "drift_over_rtol": drift(network, state.network) / RTOL,
        **{k: int(v) for k, v in state.stats.items()},
    }


def stiff(rtol: float, is_stabilised: bool, until: float) -> dict:
    """Drift on a problem whose rates lie far apart."""
    rng = np.random.default_rng(5)
    n, m, d = 5, 12, 3
    x = 4 * rng.standard_normal((n, d))
    y = x @ rng.standard_normal(d) / 4 + 0.5 * rng.standard_normal(n)
    w = 0.3 / np.sqrt(m) * rng.standard_normal((m, d))
    a = np.linalg.norm(w, axis=1) * rng.choice([-1.0, 1.0], m)
    x, y, w, a = map(jnp.asarray, (x, y[:, None], w, a[:, None]))
    data = Dataset(x, y, jnp.ones(n), y, jnp.zeros((0, d)))
    network = TwoLayer(w, a, activation=jax.nn.relu)
    flow = ReluFlow(rtol=rtol, stabilise=is_stabilised)
    state = run(flow, network, data, half_mse, until)
    return {
        "rtol": rtol,
        "is_stabilised": is_stabilised,
        "until": until,
        "status": Status(int(state.status)).name,
        "evaluations": int(state.stats["evaluations"]),
        "drift_over_rtol": drift(network, state.network) / rtol,
    }


def drift(start: TwoLayer, end: TwoLayer) -> float:
    """Largest change of |a|² − |w|² over |a|² + |w|² at the end."""
    square = lambda v: np.sum(np.asarray(v) ** 2, axis=1)
    change = (square(end.a) - square(end.w)) - (square(start.a) - square(start.w))
    return float(np.max(np.abs(change) / (square(end.a) + square(end.w))))


@eqx.filter_jit
def run(flow, network, data, loss, until):
    # A limit that no healthy run comes near.
    state = flow.init(network, data, loss, KEY)
    end = lambda s: (s.time < until) & (s.stats["accepted"] < 20_000)
    state = jax.lax.while_loop(
        lambda s: (s.status == Status.RUNNING) & end(s),
        lambda s: flow.step(s, data, loss, jnp.asarray(until)),
        state,
    )
    reached = (state.status == Status.RUNNING) & (state.time >= until)
    status = jnp.where(reached, jnp.int32(Status.REACHED_TIME), state.status)
    return eqx.tree_at(lambda s: s.status, state, status)


if __name__ == "__main__":
    main()
