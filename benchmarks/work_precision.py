"""Error of a gradient flow against field evaluations, on trajectories known otherwise.

Which method reaches a given error with the fewest evaluations of the field?

    python benchmarks/work_precision.py --problem FILE.npz --method euler --h 0.01
    python benchmarks/work_precision.py --problem FILE.npz --rtol 1e-5
    python benchmarks/work_precision.py --folder FOLDER

A problem holds X (n, d), y (n,), W0 (m, d), a0 (m,), times (T,), W (T, m, d), a (T, m),
loss_name (half_mse, mse, logistic or exponential) and slope.  With --problem one JSON
object per time goes to the file named by --json (- is the standard output); without it,
every method runs on every problem of the folder and the diagrams go to
benchmarks/results/.

The error at a time is, per neuron, |(w, a) − (w, a)_ref| / |(w, a)_ref|; neurons that
are 0 in the reference are left out.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import time
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine

from simbias import losses
from simbias.core import AbstractFlow, Dataset, Loss, Status
from simbias.flows.gradient_flow import GradientFlow
from simbias.flows.relu_flow import ReluFlow
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

RESULTS = pathlib.Path(__file__).parent / "results"
REFERENCE = pathlib.Path(__file__).parent.parent / "tests" / "reference"
LOSSES = ("half_mse", "mse", "logistic", "exponential")
# Arrays of a problem, and their axes.
SHAPES = {
    "X": "nd",
    "y": "n",
    "W0": "md",
    "a0": "m",
    "times": "T",
    "W": "Tmd",
    "a": "Tm",
}
# What the diagram shows: for Euler the step, for the others rtol.
SWEEPS = {
    "relu_flow": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7),
    "diffrax_tsit5": (1e-3, 1e-4, 1e-5),
    "euler": (1e-1, 1e-2, 2e-3),
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """A start, and where the flow is known to be at some times."""

    name: str
    data: Dataset
    network: TwoLayer
    loss: Loss
    times: np.ndarray
    reference: np.ndarray  # t m (d + 1)


def load(path: pathlib.Path) -> Problem:
    """The problem of a file.

    Raises:
        ValueError: naming the file and the array that is missing or does not fit.
    """
    try:
        with np.load(path) as file:
            z = dict(file)
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a file of arrays (npz): {error}") from None
    if missing := {*SHAPES, "loss_name", "slope"} - {*z}:
        raise ValueError(f"{path} lacks {sorted(missing)}")
    sizes: dict[str, int] = {}
    for name, axes in SHAPES.items():
        z[name] = np.asarray(z[name], float)
        fits = z[name].ndim == len(axes) and all(
            sizes.setdefault(axis, size) == size
            for axis, size in zip(axes, z[name].shape, strict=True)
        )
        if not fits:
            expected = ", ".join(f"{axis}={sizes.get(axis, '?')}" for axis in axes)
            raise ValueError(
                f"{path}: {name} has the shape {z[name].shape}, expected ({expected})"
            )
    if str(z["loss_name"]) not in LOSSES:
        raise ValueError(
            f"{path}: loss_name must be one of {LOSSES}, got {str(z['loss_name'])!r}"
        )
    x, y, slope = jnp.asarray(z["X"]), jnp.asarray(z["y"])[:, None], float(z["slope"])
    activation = jax.nn.relu if slope == 0 else LeakyRelu(slope)
    w, a = jnp.asarray(z["W0"]), jnp.asarray(z["a0"])[:, None]
    return Problem(
        name=path.stem,
        data=Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1]))),
        network=TwoLayer(w, a, activation=activation),
        loss=getattr(losses, str(z["loss_name"])),
        times=z["times"],
        reference=np.concatenate([z["W"], z["a"][:, :, None]], axis=2),
    )


def flow_of(method: str, rtol: float, step: float | None) -> AbstractFlow:
    """The flow of a name; gradient_flow takes ReLU for smooth."""
    if method == "relu_flow":
        return ReluFlow(rtol=jnp.asarray(rtol))
    if method == "euler":
        if step is None:
            raise ValueError("`--h` must be given with --method euler, e.g. --h 0.01.")
        return GradientFlow(
            solver=diffrax.Euler(),
            dt0=step,
            is_adaptive=False,
            allow_kinks=True,
            max_steps=10**9,
        )
    solver = diffrax.Tsit5(scan_kind="lax")
    return GradientFlow(solver=solver, rtol=rtol, allow_kinks=True, max_steps=10**9)


@eqx.filter_jit
def advance(flow, state, data, loss, until):
    running = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    return jax.lax.while_loop(running, lambda s: flow.step(s, data, loss, until), state)


class Reached(NamedTuple):
    """Where a method is at a time, and what it took from the start."""

    until: float
    network: TwoLayer
    status: Status
    stats: dict[str, int]
    seconds: float


def by_flow(problem: Problem, flow: AbstractFlow) -> Iterator[Reached]:
    start = lambda: flow.init(
        problem.network, problem.data, problem.loss, jax.random.key(0)
    )
    move = lambda s, t: advance(
        flow, s, problem.data, problem.loss, jnp.asarray(float(t))
    )
    jax.block_until_ready(move(start(), 0.0).time)
    state, begin = start(), time.perf_counter()
    for until in problem.times:
        state = jax.block_until_ready(move(state, until))
        seconds = time.perf_counter() - begin
        stats = {k: int(v) for k, v in state.stats.items()}
        yield Reached(until, state.network, Status(int(state.status)), stats, seconds)


def by_diffrax(problem: Problem, rtol: float) -> Iterator[Reached]:
    """diffrax's own loop, ReLU taken for smooth; from 0 anew to every time."""
    arrays, static = eqx.partition(problem.network, eqx.is_inexact_array)
    data = problem.data

    def loss(arrays):
        prediction = jax.vmap(eqx.combine(arrays, static))(data.x)
        return problem.loss(prediction, data.y, data.weight)

    field = lambda _, y, __: jax.tree.map(jnp.negative, jax.grad(loss)(y))
    solve = eqx.filter_jit(
        lambda until: diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=until,
            dt0=None,
            y0=arrays,
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-3 * rtol),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=None,
        )
    )
    jax.block_until_ready(solve(jnp.asarray(1e-6)).ys)
    for until in problem.times:
        begin = time.perf_counter()
        found = jax.block_until_ready(solve(jnp.asarray(float(until))))
        seconds = time.perf_counter() - begin
        network = eqx.combine(jax.tree.map(lambda v: v[0], found.ys), static)
        accepted = int(found.stats["num_accepted_steps"])
        rejected = int(found.stats["num_rejected_steps"])
        # Six new stages per attempt; one at the start, and one for the first step.
        evaluations = 6 * (accepted + rejected) + 2
        stats = dict(evaluations=evaluations, accepted=accepted, rejected=rejected)
        yield Reached(until, network, Status.REACHED_TIME, stats, seconds)


def records(problem: Problem, method: str, rtol: float, step: float | None):
    """One record per time; `seconds` since the start, without compiling."""
    if method == "diffrax_tsit5":
        reached = by_diffrax(problem, rtol)
    else:
        reached = by_flow(problem, flow_of(method, rtol, step))
    balance = _balance(problem.network)
    for i, (until, net, status, stats, seconds) in enumerate(reached):
        reference = problem.reference[i]
        both = np.concatenate([net.w, net.a], axis=1)
        length = np.linalg.norm(reference, axis=1)
        error = np.linalg.norm(both - reference, axis=1)[length > 0]
        error = error / length[length > 0]
        prediction = jax.vmap(net)(problem.data.x)
        data = problem.data
        drift = np.abs(_balance(net) - balance) / np.sum(both**2, axis=1)
        yield {
            "problem": problem.name,
            "method": method,
            "rtol": rtol if method != "euler" else None,
            "h": step,
            "time": float(until),
            # The engine says when a time is reached; here there is none.
            "status": "REACHED_TIME" if status == Status.RUNNING else status.name,
            "evaluations": stats["evaluations"],
            "accepted": stats["accepted"],
            "rejected": stats["rejected"],
            "events": sum(stats.get(k, 0) for k in ("crossings", "slides", "releases")),
            "crossings": stats.get("crossings", 0),
            "slides": stats.get("slides", 0),
            "releases": stats.get("releases", 0),
            "error_median": float(np.median(error)),
            "error_q90": float(np.quantile(error, 0.9)),
            "error_max": float(np.max(error)),
            "loss": float(problem.loss(prediction, data.y, data.weight)),
            "balance_drift": float(np.max(drift)),
            "seconds": seconds,
        }


def _balance(net: TwoLayer) -> np.ndarray:
    return np.asarray(jnp.sum(net.a**2, axis=1) - jnp.sum(net.w**2, axis=1))


def draw(folder: pathlib.Path) -> None:
    """Worst median error over the times against evaluations, a panel per problem."""
    import matplotlib.pyplot as plt

    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise FileNotFoundError(f"`--folder` must hold *.npz problems, got {folder}.")
    RESULTS.mkdir(exist_ok=True)
    columns = min(3, len(paths))
    rows = -(-len(paths) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4 * columns, 3.2 * rows), squeeze=False
    )
    with open(RESULTS / "work_precision.jsonl", "w") as file:
        file.write(json.dumps(machine()) + "\n")
        for axis, path in zip(axes.flat, paths, strict=False):
            problem = load(path)
            for method, values in SWEEPS.items():
                points = []
                for value in values:
                    is_step = method == "euler"
                    found = list(
                        records(problem, method, value, value if is_step else None)
                    )
                    file.writelines(json.dumps(line) + "\n" for line in found)
                    worst = max(line["error_median"] for line in found)
                    points.append((found[-1]["evaluations"], worst))
                axis.loglog(*zip(*points, strict=True), "o-", label=method)
            axis.set_title(problem.name)
            axis.set_xlabel("evaluations of the field")
            axis.set_ylabel("median error, worst time")
    axes.flat[0].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "work_precision.png", dpi=150)


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=REFERENCE)
    methods = ("relu_flow", "gradient_flow", "euler", "diffrax_tsit5")
    parser.add_argument("--method", choices=methods, default="relu_flow")
    parser.add_argument("--rtol", type=float, default=1e-5)
    parser.add_argument("--h", type=float)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true", help="a run for CI")
    options = parser.parse_args()
    if options.smallest:
        options.problem, options.rtol = REFERENCE / "three_points.npz", 1e-3
    for name in ("problem", "folder"):
        path = getattr(options, name)
        if path is not None and not path.exists():
            parser.error(f"--{name}: {path} does not exist")
    if options.method == "euler" and not (options.h and options.h > 0):
        parser.error("--h: euler needs a positive step, e.g. --h 0.01")
    if not options.rtol > 0:
        parser.error(f"--rtol must be positive, got {options.rtol}")
    if options.problem is None:
        draw(options.folder)
        return
    try:
        problem = load(options.problem)
    except ValueError as error:
        parser.error(str(error))
    found = records(problem, options.method, options.rtol, options.h)
    if options.json == "-":
        for line in found:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    else:
        with open(options.json, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in found)


if __name__ == "__main__":
    main()
