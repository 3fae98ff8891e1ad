"""What does it cost to come from a small start to a limit that is proven?

The same members, from the start to the time at which `Stationary` has proven the limit:
by the exact flow as it is and without its steps of neurons by themselves.  Who proves
nothing goes to the clock that stood for a limit before: the exact flow, that of an
earlier commit, where this clone holds it, explicit Euler at its best step, diffrax on
the field as it is.  Seconds are of the processor, without compiling.  The error is the
root mean square of f − f* over the samples, relative to that of f*, with f* from the
exact flow at a tolerance of 1e-7, or of `--truth`, at the same time.

    python benchmarks/time_to_limit.py [--case NAME ...] [--only WORD] [--loss NAME]
        [--truth RTOL] [--json FILE|-] [--smallest]

A contender that is not done after `--patience` seconds is told as such.  `--only` takes
those whose name begins with a word.  `--loss mse` is the mean of squares without the
½, whose flow goes twice as fast: times and steps are halved.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _before import is_held, of_commit
from _results import machine, written

from simbias.core import AbstractFlow, AbstractStop, Dataset, Loss, Status
from simbias.experiments.interpolation.threshold import make
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse, mse
from simbias.stops.stationary import Stationary

# Before any of what makes a limit cheap.
BEFORE = "6807814"
D, SCALE, SIGMA = 5, 1e-8, 0.3
# n and m of each case.
CASES = {
    "smallest": (30, 10),
    "median": (100, 2000),
    **{f"{n}x{m}": (n, m) for n in (20, 100, 400, 1600) for m in (200, 2000, 10_000)},
}
# Where a limit is looked for, not before the loss can have moved, and the clock that
# stood for one.
TIMES = tuple(float(t) for t in np.geomspace(20, 3000, 40))
SHORT = (1.0, 5.0)
KEY = jax.random.key(0)
STEPS = (0.3, 0.1, 0.03, 0.01)
TOLERANCES = (1e-3, 1e-4, 1e-5)
# Solvers of diffrax, the stages of a step, at each of which an implicit one evaluates
# the field several times more, and the steps in a twentieth of the way beyond which
# there is no patience either: an implicit one solves a linear system in each.
SOLVERS = {
    "tsit5": (diffrax.Tsit5(), 6, 100_000),
    "kvaerno5": (diffrax.Kvaerno5(), 7, 300),
}
UNKNOWNS = 1500
# By how much faster than the first the flow of each goes.
LOSSES: dict[str, tuple[Loss, float]] = {"half_mse": (half_mse, 1), "mse": (mse, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs="+", choices=CASES, default=["median"])
    parser.add_argument("--json", default="-")
    parser.add_argument("--only", default="")
    parser.add_argument("--loss", choices=LOSSES, default="half_mse")
    parser.add_argument("--truth", type=float, default=1e-7, metavar="RTOL")
    parser.add_argument("--patience", type=float, default=600.0)
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    cases = ["smallest"] if options.smallest else options.case
    fixed = {"d": D, "scale": SCALE, "sigma": SIGMA}
    fixed |= {"loss": options.loss, "truth": options.truth}
    about, rows = {**fixed, **machine()}, []
    for case in cases:
        rows += compared(case, options)
        # What has run is kept if the next fails, and its programs are not.
        if options.json != "-":
            written(options.json, {**about, "rows": rows})
        jax.clear_caches()
    if options.json == "-":
        written(options.json, {**about, "rows": rows})


def compared(case: str, options: argparse.Namespace) -> list[dict]:
    """Every contender, on one member."""
    (n, m), patience = CASES[case], options.patience
    data, network = make(KEY, n=n, d=D, m=m, sigma=SIGMA, scale=SCALE, n_test=1)
    start = Start(network, data, *LOSSES[options.loss])
    is_small = case == "smallest"
    times = tuple(t / start.speed for t in (SHORT if is_small else TIMES))
    true = ReluFlow(rtol=options.truth)
    proven = reached(start, true, times, Stationary(), np.inf)
    at_the_clock = reached(start, true, times[-1:], None, np.inf)
    runs = {}
    for name, run in contenders(start, times, is_small=is_small).items():
        if name.startswith(options.only):
            runs[name] = run(patience)
    return [
        {
            "case": case,
            "n": n,
            "m": m,
            "contender": name,
            "seconds": run.seconds,
            "evaluations": run.evaluations,
            "error": error(run, proven, at_the_clock),
            "time": run.time,
            "status": run.status.name,
        }
        for name, run in runs.items()
    ]


def error(run: "Run", *truths: "Run") -> float | None:
    """Of f, beside the truth at the same time; None where there is none."""
    for truth in truths:
        if run.time == truth.time:
            return root_mean_square(run.f - truth.f) / root_mean_square(truth.f)
    return None


def contenders(
    start: "Start", times: tuple[float, ...], *, is_small: bool
) -> dict[str, Callable[[float], "Run"]]:
    """By name: what runs with so much patience."""
    until = times[-1]
    exact, together = ReluFlow(rtol=1e-4), ReluFlow(rtol=1e-4, decouple=False)
    clock, stop = (until,), Stationary()
    out: dict[str, Callable[[float], Run]] = {
        "exact": lambda p: reached(start, exact, times, stop, p),
        "exact, together": lambda p: reached(start, together, times, stop, p),
        "exact, by the clock": lambda p: reached(start, exact, clock, None, p),
    }
    if not is_small and is_held(BEFORE):
        out[f"exact, {BEFORE}"] = lambda p: before(start, pieces(until), p)
    for step in STEPS[:1] if is_small else STEPS:
        flow = euler(step / start.speed)
        out[f"euler, {step:g}"] = partial(reached, start, flow, (until,), None)
    unknowns = sum(v.size for v in jax.tree.leaves(start.network) if eqx.is_array(v))
    for name, (solver, stages, most) in SOLVERS.items():
        if name == "kvaerno5" and (is_small or unknowns > UNKNOWNS):
            continue  # it factorises a matrix of so many rows in every step
        for rtol in TOLERANCES[:1] if is_small else TOLERANCES:
            run = partial(by_diffrax, start, solver, stages, most, rtol, until)
            out[f"{name}, {rtol:g}"] = run
    return out


class Start(NamedTuple):
    """A member before it moves."""

    network: Any
    data: Dataset
    loss: Loss
    speed: float


class Run(NamedTuple):
    """Where a contender is, and what it took."""

    time: float
    f: np.ndarray
    status: Status
    seconds: float
    evaluations: int


@eqx.filter_jit
def advanced(flow, state, data, loss, until):
    goes = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    step = lambda s: flow.step(s, data, loss, until)
    return jax.lax.while_loop(goes, step, state)


def reached(
    start: Start,
    flow: AbstractFlow,
    times: tuple[float, ...],
    stop: AbstractStop | None,
    patience: float,
) -> Run:
    """A flow at the first of some times at which a rule ends it, or at the last.

    With one time, the way there is gone in pieces, for the sake of patience.
    """
    (_, data, loss, _), seconds = start, 0.0
    status = Status.MAX_STEPS
    state = eqx.filter_jit(flow.init)(start.network, data, loss, KEY)
    ask = None if stop is None else eqx.filter_jit(stop.status)
    if ask is not None:
        ask(state.network, data, loss)
    jax.block_until_ready(advanced(flow, state, data, loss, jnp.float64(1e-9)).time)
    stops = times if len(times) > 1 else pieces(max(times))
    for until in stops:
        began = time.process_time()
        state = advanced(flow, state, data, loss, jnp.float64(until))
        said = Status(int(state.status))
        if said == Status.RUNNING and ask is not None:
            said = Status(int(ask(state.network, data, loss)))
        seconds += time.process_time() - began
        if said != Status.RUNNING or until == stops[-1]:
            status = Status.REACHED_TIME if said == Status.RUNNING else said
            break
        if seconds > patience:
            break
    evaluations = int(state.stats["evaluations"])
    f = np.asarray(jax.vmap(state.network)(data.x))
    return Run(float(state.time), f, status, seconds, evaluations)


def before(start: Start, times: tuple[float, ...], patience: float) -> Run:
    """The exact flow of an earlier commit."""
    network, data, loss, _ = start
    arrays = {"w": network.w, "a": network.a, "x": data.x, "y": data.y}
    arrays = {key: np.asarray(value) for key, value in arrays.items()}
    told, f = of_commit(BEFORE, arrays, loss.__name__, 1e-4, times, patience)
    is_there = told["time"] >= times[-1]
    status = Status.REACHED_TIME if is_there else Status.MAX_STEPS
    return Run(told["time"], f, status, told["seconds"], told["evaluations"])


def by_diffrax(
    start: Start,
    solver: diffrax.AbstractSolver,
    stages: int,
    most: int,
    rtol: float,
    until: float,
    patience: float,
) -> Run:
    """diffrax's own loop on the field as it is, in pieces."""
    arrays, static = eqx.partition(start.network, eqx.is_inexact_array)
    data = start.data

    def value(arrays):
        prediction = jax.vmap(eqx.combine(arrays, static))(data.x)
        return start.loss(prediction, data.y, data.weight)

    field = lambda _, y, __: jax.tree.map(jnp.negative, jax.grad(value)(y))
    # An absolute tolerance far below the start: neurons grow from there.
    controller = diffrax.PIDController(rtol=rtol, atol=rtol * SCALE)

    @eqx.filter_jit
    def solve(y, t0, t1):
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            solver,
            t0=t0,
            t1=t1,
            dt0=None,
            y0=y,
            stepsize_controller=controller,
            saveat=diffrax.SaveAt(t1=True),
            max_steps=most,
            throw=False,
        )
        is_there = found.result == diffrax.RESULTS.successful
        y = jax.tree.map(lambda v: v[0], found.ys)
        return y, found.stats["num_steps"], is_there

    jax.block_until_ready(solve(arrays, jnp.float64(0), jnp.float64(1e-9)))
    y, t, seconds, steps = arrays, 0.0, 0.0, 0
    status = Status.MAX_STEPS
    for t1 in pieces(until):
        began = time.process_time()
        new = jax.block_until_ready(solve(y, jnp.float64(t), jnp.float64(t1)))
        seconds, steps = seconds + time.process_time() - began, steps + int(new[1])
        if not new[2] or seconds > patience:
            break
        y, t = new[0], t1
    else:
        status = Status.REACHED_TIME
    f = np.asarray(jax.vmap(eqx.combine(y, static))(data.x))
    return Run(t, f, status, seconds, steps * stages)


def pieces(until: float) -> tuple[float, ...]:
    return tuple(until * (i + 1) / 20 for i in range(19)) + (until,)


def euler(step: float) -> GradientFlow:
    return GradientFlow(
        solver=diffrax.Euler(),
        dt0=step,
        is_adaptive=False,
        allow_kinks=True,
        max_steps=10**9,
    )


def root_mean_square(v: np.ndarray) -> float:
    return float(np.sqrt(np.mean(v**2)))


if __name__ == "__main__":
    main()
