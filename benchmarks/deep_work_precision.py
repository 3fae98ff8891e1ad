"""What the exact flow of a deep network costs, and how large its error is.

    python benchmarks/deep_work_precision.py --problem FILE.npz --rtol R [--json FILE|-]
    python benchmarks/deep_work_precision.py --problem FILE.npz --rtol R --peer
    python benchmarks/deep_work_precision.py --random 100 10 50 100 --rtol R --peer
    python benchmarks/deep_work_precision.py --figure
    python benchmarks/deep_work_precision.py --smallest

A problem holds x (n, d), y (n, k), widths, bias, loss, slope, theta0 (of every layer W
row by row, then b), times (T,), and theta (T, p) at these times; `tests/reference/deep`
has some.  One row is printed: evaluations of the field, events, status, and error, the
largest ‖θ − θ_ref‖ / ‖θ_ref‖ over the times.  With --peer it also has the evaluations
of Tsit5 on a tanh network of the same size and start, at the same tolerance.

Without theta in the file the error is the distance from the same flow at a tolerance a
hundred times smaller.  `--random n d m t` is a noisy linear teacher and a network with
two hidden layers of m from Kaiming's start, to time t; its error is not computed.  What
it costs is written down at several times; `--minutes M` ends at the first of them that
is reached after M minutes.

`--figure` compares four methods on three problems: the exact flow, Tsit5 of diffrax on
the ReLU network without events, Euler's method, and `Descent`.  The rows go to
benchmarks/results/deep_work_precision.json, the diagram beside it.  There the error is
the distance from the exact flow at rtol 1e-11; the stored theta give the error of that
reference itself.
"""

import argparse
import dataclasses
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _deep_problems import advance, distance, flat, flowed, problem, sample, started
from _results import machine, written

from simbias.core import Status
from simbias.datasets import gaussian_teacher
from simbias.figures.style import COLOURS, style
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.networks import mlp

EVENTS = ("crossings", "slides", "releases")
RESULTS = pathlib.Path(__file__).parent / "results"
PROBLEMS = {
    "deep_leaky_logistic": "3-6-6-1, slope 0.1, crossings only",
    "deep_three_hidden": "3-5-5-5-1, crossings and slides",
    "deep_bias": "2-10-10-1 with biases, crossings and slides",
}
TOLERANCES = tuple(10.0**-k for k in range(3, 10))
STEPS = (1e-1, 1e-2, 1e-3, 1e-4)
# What the diagram shows, in this order: for Euler the step, for descent the rate.
METHODS = {
    "exact flow": TOLERANCES,
    "Tsit5 (diffrax)": TOLERANCES,
    "Euler": STEPS,
    "descent": STEPS,
}
TIGHT = 1e-11
# At which the cost on a random network is written down.
TIMES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# A method that needs more is not asked for tighter tolerances.
MOST_STEPS = 150_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", default="deep_two_hidden")
    parser.add_argument("--random", type=int, nargs=4, metavar=("n", "d", "m", "t"))
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--figure", action="store_true")
    options = parser.parse_args()
    if options.smallest:
        options.problem, options.rtol = "deep_leaky_logistic", 1e-3
    jax.config.update("jax_enable_x64", True)
    if options.figure:
        rows = [row for name in PROBLEMS for row in compared(name)]
        document = {**machine(), "rows": rows}
        target = RESULTS / "deep_work_precision.json"
        written(str(target), document, a_row_a_line=True)
        draw(rows)
        return
    if options.random:
        for found in of_random(options):
            written(options.json, {**found, **machine()})
        return
    written(options.json, {**row(options), **machine()})


def row(options: argparse.Namespace) -> dict[str, Any]:
    """Cost and error of the flow on one problem."""
    net, data, loss, file = problem(options.problem)
    times = [float(t) for t in file["times"]]
    begin = time.perf_counter()
    states = flowed(net, data, times, loss, options.rtol)
    seconds = time.perf_counter() - begin
    if "theta" in file:
        reference = list(file["theta"])
    else:
        tight = flowed(net, data, times, loss, options.rtol / 100)
        reference = [flat(state.network) for state in tight]
    ends = [flat(state.network) for state in states]
    errors = [distance(a, b) for a, b in zip(ends, reference, strict=True)]
    stats = {name: int(count) for name, count in states[-1].stats.items()}
    found = {
        "problem": options.problem,
        "rtol": options.rtol,
        "evaluations": stats["evaluations"],
        "events": sum(stats[name] for name in EVENTS),
        "status": Status(int(states[-1].status)).name,
        "error": max(errors),
        "seconds_with_compiling": seconds,
        **stats,
    }
    if options.peer:
        peer = peer_of(net, data, loss, options.rtol)
        found["evaluations_of_tanh"] = [peer(t) for t in times][-1]
    return found


def of_random(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Cost of the flow on a random network up to each of several times, and its peer.

    Ends at the first of the times that is reached after `--minutes`.
    """
    n, d, m, end = options.random
    named = {"samples": n, "inputs": d, "width": m, "end": end}
    net, data, loss = random_problem(n, d, m)
    flow = DeepReluFlow(rtol=jnp.asarray(options.rtol))
    state, rows = started(flow, net, data, loss), []
    peer = peer_of(net, data, loss, options.rtol) if options.peer else None
    begin = time.perf_counter()
    for t in [t for t in TIMES if t < end] + [float(end)]:
        state = advance(flow, state, data, loss, jnp.asarray(t))
        counts = {name: int(count) for name, count in state.stats.items()}
        found: dict[str, Any] = {
            **counts,
            "time": float(state.time),
            "status": Status(int(state.status)).name,
            "sliding": int(jnp.sum(state.memory.slots.is_used)),
            "seconds_with_compiling": round(time.perf_counter() - begin, 1),
        }
        if peer is not None:
            found["evaluations_of_tanh"] = peer(t)
            ratio = found["evaluations"] / found["evaluations_of_tanh"]
            found["ratio"] = round(ratio, 1)
        print(found, file=sys.stderr, flush=True)
        rows.append(found)
        yield {**named, "rtol": options.rtol, "times": rows}
        if time.perf_counter() - begin > 60 * options.minutes:
            break


def compared(name: str) -> Iterator[dict[str, Any]]:
    """Evaluations and error of every method on one problem, and of the reference."""
    net, data, loss, file = problem(name)
    times = [float(t) for t in file["times"]]
    tight = [flat(s.network) for s in flowed(net, data, times, loss, TIGHT)]
    own = max(map(distance, tight, list(file["theta"])))
    stored = float(max(file["own_error"]))
    print(name, "reference", own, stored, flush=True)
    for method, values in METHODS.items():
        for value in values:
            found, ends = by_method(method, value, net, data, times, loss)
            errors = [distance(flat(e), t) for e, t in zip(ends, tight, strict=True)]
            row = {
                "problem": name,
                "method": method,
                "value": value,
                **found,
                "error": float(f"{max(errors):.3g}")
                if np.isfinite(errors).all()
                else None,
                "reference_from_euler": float(f"{own:.3g}"),
                "error_of_euler": float(f"{stored:.3g}"),
            }
            print(row, flush=True)
            yield row
            if row["status"] == "MAX_STEPS":
                break


def by_method(
    method: str, value: float, net: Any, data: Any, times: list[float], loss: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Evaluations and status of one run, and the networks at the times."""
    if method == "Tsit5 (diffrax)":
        return by_diffrax(net, data, times, loss, value)
    if method == "exact flow":
        states = flowed(net, data, times, loss, value)
    else:
        states = by_steps(method, value, net, data, times, loss)
    last = states[-1]
    names = ("evaluations", "accepted", *EVENTS)
    found: dict[str, Any] = {k: int(last.stats[k]) for k in names if k in last.stats}
    found.setdefault("evaluations", found["accepted"])
    found["status"] = Status(int(last.status)).name
    return found, [state.network for state in states]


def by_steps(
    method: str, value: float, net: Any, data: Any, times: list[float], loss: Any
) -> list[Any]:
    """States of Euler's method with a fixed step, or of descent with a rate."""
    if method == "Euler":
        flow = GradientFlow(
            solver=diffrax.Euler(),
            dt0=jnp.asarray(value),
            is_adaptive=False,
            allow_kinks=True,
            max_steps=MOST_STEPS,
        )
    else:
        flow = Descent(rate=jnp.asarray(value), max_steps=MOST_STEPS)
    state, states = started(flow, net, data, loss), []
    for t in times:
        state = advance(flow, state, data, loss, jnp.asarray(t))
        states.append(state)
    return states


def by_diffrax(
    net: Any, data: Any, times: list[float], loss: Any, rtol: float
) -> tuple[dict[str, Any], list[Any]]:
    """diffrax's own loop on the ReLU network, as if it were smooth."""
    arrays, static = eqx.partition(net, eqx.is_inexact_array)

    def value(arrays):
        prediction = jax.vmap(eqx.combine(arrays, static))(data.x)
        return loss(prediction, data.y, data.weight)

    field = lambda _, y, __: jax.tree.map(jnp.negative, jax.grad(value)(y))

    @eqx.filter_jit
    def solve(rtol):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=times[-1],
            dt0=None,
            y0=arrays,
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-3 * rtol),
            saveat=diffrax.SaveAt(ts=jnp.asarray(times)),
            max_steps=MOST_STEPS,
            throw=False,
        )

    found = solve(jnp.asarray(rtol))
    steps = int(found.stats["num_steps"])
    is_done = bool(found.result == diffrax.RESULTS.successful)
    # Six new stages per attempt; one at the start, and one for the first step.
    counts = {
        "evaluations": 6 * steps + 2,
        "accepted": int(found.stats["num_accepted_steps"]),
        "status": "RUNNING" if is_done else "MAX_STEPS",
    }
    take = lambda i: eqx.combine(jax.tree.map(lambda v: v[i], found.ys), static)
    return counts, [take(i) for i in range(len(times))]


def draw(rows: list[dict[str, Any]]) -> None:
    """Error at the worst time against evaluations, a panel per problem."""
    import matplotlib.pyplot as plt

    marks = {"exact flow": "o-", "Tsit5 (diffrax)": "s-", "Euler": "^-", "descent": "x"}
    with style():
        figure, axes = plt.subplots(1, len(PROBLEMS), figsize=(12, 3.9), sharey=True)
        for axis, (name, said) in zip(axes, PROBLEMS.items(), strict=True):
            mine = [row for row in rows if row["problem"] == name]
            for (method, mark), colour in zip(marks.items(), COLOURS, strict=False):
                points = [
                    (row["evaluations"], row["error"])
                    for row in mine
                    if row["method"] == method and row["status"] == "RUNNING"
                ]
                axis.loglog(
                    *zip(*points, strict=True), mark, color=colour, ms=5, label=method
                )
            known = mine[0]["error_of_euler"]
            axis.axhline(known, color="0.5", ls=":", lw=1.2, label="stored reference")
            axis.set_title(f"{name}\n{said}", fontsize="small")
            axis.set_xlabel("evaluations of the field")
        axes[0].set_ylabel("‖θ − θ_ref‖ / ‖θ_ref‖, worst time")
        axes[1].legend(loc="lower right")
        figure.savefig(RESULTS / "deep_work_precision.png", dpi=130)
        plt.close(figure)


def random_problem(n: int, d: int, m: int) -> tuple[Any, Any, Any]:
    """Network, sample and loss."""
    key_data, key_network = jax.random.split(jax.random.key(0))
    data = gaussian_teacher(key_data, n=n, d=d, sigma=0.3, n_test=1)
    net = mlp(key_network, (d, m, m, 1), has_bias=False)
    return net, sample(data.x, data.y), half_mse


def peer_of(net: Any, data: Any, loss: Any, rtol: float) -> Callable[[float], int]:
    """Evaluations of Tsit5 up to a time, with tanh in the place of the ReLU."""
    net = dataclasses.replace(net, activation=jnp.tanh)
    flow = GradientFlow(rtol=jnp.asarray(rtol))
    state = started(flow, net, data, loss)

    def evaluations(t: float) -> int:
        nonlocal state
        state = advance(flow, state, data, loss, jnp.asarray(t))
        return int(state.stats["evaluations"])

    return evaluations


if __name__ == "__main__":
    main()
