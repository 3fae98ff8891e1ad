"""What the exact flow of a deep network costs, and how large its error is.

    python benchmarks/deep_work_precision.py --problem FILE.npz --rtol R [--json FILE|-]
    python benchmarks/deep_work_precision.py --problem FILE.npz --rtol R --peer
    python benchmarks/deep_work_precision.py --random 100 10 50 100 --rtol R --peer
    python benchmarks/deep_work_precision.py --smallest

A problem holds x (n, d), y (n, k), widths, bias, loss, slope, theta0 (of every layer W
row by row, then b), times (T,), and theta (T, p) at these times; `tests/reference/deep`
has some.  One row is printed: evaluations of the field, events, status, and error, the
largest ‖θ − θ_ref‖ / ‖θ_ref‖ over the times.  With --peer it also has the evaluations
of Tsit5 on a tanh network of the same size and start, at the same tolerance.

Without theta in the file the error is the distance from the same flow at a tolerance a
hundred times smaller.  `--random n d m t` is a noisy linear teacher and a network with
two hidden layers of m from Kaiming's start, to time t; its error is not computed.
"""

import argparse
import dataclasses
import time
from typing import Any

import jax
import jax.numpy as jnp
from _deep_problems import advance, distance, flat, flowed, problem, sample
from _results import machine, written

from simbias.core import Status
from simbias.datasets import gaussian_teacher
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.networks import mlp

EVENTS = ("crossings", "slides", "releases")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", default="deep_two_hidden")
    parser.add_argument("--random", type=int, nargs=4, metavar=("n", "d", "m", "t"))
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    if options.smallest:
        options.problem, options.rtol = "deep_leaky_logistic", 1e-3
    jax.config.update("jax_enable_x64", True)
    written(options.json, {**row(options), **machine()})


def row(options: argparse.Namespace) -> dict[str, Any]:
    """Cost and error of the flow on one problem."""
    if options.random:
        n, d, m, end = options.random
        net, data, loss, file = random_problem(n, d, m, end)
    else:
        net, data, loss, file = problem(options.problem)
    times = [float(t) for t in file["times"]]
    begin = time.perf_counter()
    states = flowed(net, data, times, loss, options.rtol)
    seconds = time.perf_counter() - begin
    if options.random:
        reference = []
    elif "theta" in file:
        reference = list(file["theta"])
    else:
        tight = flowed(net, data, times, loss, options.rtol / 100)
        reference = [flat(state.network) for state in tight]
    ends = [flat(state.network) for state in states]
    errors = [distance(a, b) for a, b in zip(ends, reference, strict=bool(reference))]
    stats = {name: int(count) for name, count in states[-1].stats.items()}
    found = {
        "problem": options.problem if not options.random else options.random,
        "rtol": options.rtol,
        "evaluations": stats["evaluations"],
        "events": sum(stats[name] for name in EVENTS),
        "status": Status(int(states[-1].status)).name,
        "error": max(errors, default=None),
        "seconds_with_compiling": seconds,
        **stats,
    }
    if options.peer:
        found["evaluations_of_tanh"] = of_tanh(net, data, times, loss, options.rtol)
    return found


def random_problem(n: int, d: int, m: int, end: int) -> tuple[Any, Any, Any, Any]:
    """Network, sample, loss and times."""
    key_data, key_network = jax.random.split(jax.random.key(0))
    data = gaussian_teacher(key_data, n=n, d=d, sigma=0.3, n_test=1)
    net = mlp(key_network, (d, m, m, 1), has_bias=False)
    return net, sample(data.x, data.y), half_mse, {"times": [end]}


def of_tanh(net: Any, data: Any, times: list[float], loss: Any, rtol: float) -> int:
    """Evaluations of Tsit5 on the network with tanh in the place of its ReLU."""
    net = dataclasses.replace(net, activation=jnp.tanh)
    flow = GradientFlow(rtol=jnp.asarray(rtol))
    state = flow.init(net, data, loss, jax.random.key(0))
    for t in times:
        state = advance(flow, state, data, loss, jnp.asarray(t))
    return int(state.stats["evaluations"])


if __name__ == "__main__":
    main()
