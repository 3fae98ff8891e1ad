"""Does the exact flow get through any problem? 200 random ones, to time 100.

Dimensions 2, 3, 5, 10; 5 to 200 samples; regression on noise (half_mse) or random
labels (logistic); ReLU and leaky ReLU; initial scales 1e-3 to 1; rtol 1e-4.  A run that
does not reach its end is counted by its status; the smallest step and the largest
number of evaluations are reported.

    python benchmarks/random_problems.py [--json FILE|-] [--smallest]
"""

import argparse
import json
import pathlib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.configuration import provenance
from simbias.core import Dataset, Status
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse, logistic
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

KEY = jax.random.key(0)
LOSSES = {"half_mse": half_mse, "logistic": logistic}
MOST, NEURONS = 200, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
    }
    document = {**summary, **provenance(), "rows": rows}
    text = json.dumps(document).replace("}, {", "},\n {")
    if options.json == "-":
        print(text)
    else:
        pathlib.Path(options.json).write_text(text + "\n")
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
    flow, loss = ReluFlow(rtol=1e-4), LOSSES[name]
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
        **{k: int(v) for k, v in state.stats.items()},
    }


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
