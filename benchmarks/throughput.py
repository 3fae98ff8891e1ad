"""How long does one step of one member take, beside what one would write by hand?

    python benchmarks/throughput.py [--json FILE|-] [--case NAME ...] [--smallest]

Every contender trains the same members (two-layer ReLU networks on a noisy linear
teacher, each with data of its own) by full-batch gradient descent; a second table does
the same with Tsit5 at a constant step, kinks ignored.  All contenders of a case run in
turn, several times over, and the median counts; compiling is not counted.  The last
case runs members of mixed size to convergence, end to end, against one vmapped batch.
PyTorch takes part when it is installed.

Contenders: simbias (what the engine runs, on as many threads as there are cores), JAX
by hand (jax.grad under vmap, or under lax.map), NumPy by hand, a PyTorch script (one
nn.Module and optimiser per network, as papers do) and a PyTorch ensemble (batched
products, one autograd graph); diffrax.diffeqsolve for flows.
"""

import argparse
import concurrent.futures
import dataclasses
import importlib.util
import json
import os
import time
from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _machine import peaks
from _results import load, machine, written

from simbias.core import Dataset, Experiment, Status
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.ensemble.lane import Recorder, advance_all, start
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.two_layer import TwoLayer
from simbias.networks.two_layer_init import balanced
from simbias.stops.train_risk_below import TrainRiskBelow
from simbias.verbs.simulate import simulate

RATE = 0.02
# n, m, d, members
CASES = {
    "tiny": (20, 100, 2, 1000),
    "small": (100, 200, 5, 256),
    "medium": (400, 400, 5, 64),
    "square": (1000, 1000, 20, 16),
    "wide": (1000, 10_000, 5, 2),
}
# Steps of all members are worth about this many multiplications.
_WORK = 1.5e9
# Of so few steps what begins and ends a program would be a part of the time.
_LEAST_STEPS = 20
# A loop in Python takes about this many steps.
_PYTHON_STEPS = 1000
_TORCH = importlib.util.find_spec("torch") is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--case", nargs="*", choices=[*CASES, "end_to_end"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    cases, work, repeats, least = CASES, _WORK, options.repeats, _LEAST_STEPS
    dtypes = ("float32", "float64")
    if options.smallest:
        cases, work, repeats, least = {"tiny": (5, 8, 2, 3)}, 1e3, 1, 2
        dtypes = dtypes[1:]
    chosen = options.case or [*cases, "end_to_end"]
    document: dict[str, Any] = {"load_before": load(), **machine()}
    document["peaks"] = {dtype: peaks(dtype) for dtype in dtypes}
    rows = []
    for name in chosen:
        if name == "end_to_end":
            members, last = (4, 20.0) if options.smallest else (300, 4000.0)
            rows += end_to_end(members, last, repeats)
            continue
        for dtype in dtypes:
            peak = document["peaks"][dtype]["gflops"]
            of_case = one_case(name, cases[name], dtype, work, repeats, least)
            rows += [{**row, **share_of(peak, row)} for row in of_case]
    written(options.json, {**document, "rows": rows}, a_row_a_line=True)


def one_case(name, sizes, dtype, work, repeats, least) -> list[dict]:
    n, m, d, members = sizes
    arrays = draw(n, m, d, members, dtype)
    steps = max(int(work / (n * m * d * members * 4)), least)
    contenders = {
        "simbias": simbias_descent,
        "jax_vmap": by_hand(jax.vmap),
        "jax_map": by_hand(lambda one: lambda rows: jax.lax.map(one, rows)),
        "numpy": numpy_loop,
    }
    if _TORCH:
        contenders |= {"torch_script": torch_script, "torch_bmm": torch_ensemble}
    rows = race(name, sizes, dtype, "gd", contenders, arrays, steps, repeats)
    flows = {
        "simbias": simbias_flow,
        "diffrax_vmap": diffrax_by_hand(jax.vmap),
        "diffrax_map": diffrax_by_hand(lambda f: lambda rows: jax.lax.map(f, rows)),
    }
    few = max(steps // 6, min(least, 4))
    return rows + race(name, sizes, dtype, "tsit5", flows, arrays, few, repeats)


def share_of(peak: float, row: dict) -> dict[str, float]:
    """Of the machine's products, the share that a contender makes use of.

    A gradient needs n m (4 d + 2) operations at least: w·x, f, and Σᵢ Gᵢⱼ xᵢ, of two
    operations a term; what is computed twice counts once.  A step of Tsit5 has six.
    """
    n, m, d, _ = row["n_m_d_members"]
    gradients = {"gd": 1, "tsit5": 6}[row["method"]]
    operations = gradients * n * m * (4 * d + 2)
    gflops = 1e-3 * operations / row["microseconds_per_member_step"]
    return {"gflops": gflops, "share_of_peak": gflops / peak}


def race(name, sizes, dtype, method, contenders, arrays, steps, repeats) -> list[dict]:
    runs = {who: make(arrays, steps) for who, make in contenders.items()}
    ends = {who: run() for who, run in runs.items()}  # compiles, and warms up
    seconds = {who: [] for who in runs}
    for _ in range(repeats):
        for who, run in runs.items():
            began = time.perf_counter()
            run()
            seconds[who].append(time.perf_counter() - began)
    members = sizes[-1]
    # PyTorch runs fewer members where one takes long: see `share`.
    per_step = {
        who: float(np.median(s)) / (steps * members * runs[who].share)
        for who, s in seconds.items()
    }
    here, rows = ends["simbias"], []
    for who, value in per_step.items():
        end = ends[who][: len(here)]
        off = np.max(np.abs(end - here[: len(end)])) / np.max(np.abs(here))
        rows.append(
            {
                "case": name,
                "n_m_d_members": sizes,
                "dtype": dtype,
                "method": method,
                "contender": who,
                "microseconds_per_member_step": 1e6 * value,
                "ratio_to_simbias": value / per_step["simbias"],
                "distance_from_simbias": float(off),
            }
        )
        print(json.dumps(rows[-1]), flush=True, file=_stderr())
    return rows


@dataclasses.dataclass
class Run:
    """What is timed; returns hidden weights of members at the end."""

    call: Callable[[], Any]
    share: float = 1.0

    def __call__(self):
        return np.asarray(self.call())


def draw(n, m, d, members, dtype) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((members, n, d))
    y = x.sum(axis=2, keepdims=True) / np.sqrt(d)
    y = y + 0.5 * rng.standard_normal(y.shape)
    w = rng.standard_normal((members, m, d)) * 0.1 / np.sqrt(m)
    sign = np.sign(rng.standard_normal((members, m, 1)))
    a = sign * np.linalg.norm(w, axis=2, keepdims=True)
    return {k: v.astype(dtype) for k, v in dict(x=x, y=y, w=w, a=a).items()}


# --- simbias --------------------------------------------------------------------------


def simbias_descent(arrays, steps, *, may_fuse=True):
    return in_lanes(Descent(rate=RATE), arrays, steps, RATE, may_fuse=may_fuse)


def simbias_flow(arrays, steps):
    solver = diffrax.Tsit5(scan_kind="lax")
    flow = GradientFlow(solver=solver, dt0=RATE, is_adaptive=False, allow_kinks=True)
    return in_lanes(flow, arrays, steps, RATE)


def in_lanes(flow, arrays, steps, length, *, may_fuse=True):
    """The engine's program: one thread per core, members in turn; else all at once."""
    recorder = Recorder(half_mse, (2.0 * steps * length,), {}, None)
    members, is_cpu = len(arrays["x"]), jax.default_backend() == "cpu"
    count = min(os.cpu_count() or 1, members) if is_cpu else 1
    parts = np.array_split(np.arange(members), count)

    @jax.jit
    def begin(x, y, w, a):
        ones = jnp.ones(x.shape[0], x.dtype)
        data = Dataset(x, y, ones, y, jnp.zeros((0, x.shape[1]), x.dtype))
        network = TwoLayer(w, a, may_fuse=may_fuse)
        return start(recorder, flow, network, data, jax.random.key(0))

    layout = "in turn" if is_cpu else "side by side"
    program = eqx.filter_jit(
        lambda lanes: advance_all(recorder, lanes, jnp.int32(steps), layout)
    )
    lanes = [
        jax.vmap(begin)(*(jnp.asarray(arrays[k][part]) for k in "xywa"))
        for part in parts
    ]

    def one(some):
        return np.asarray(program(some).state.network.w)

    def run():
        with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
            return np.concatenate(list(pool.map(one, lanes)))

    return Run(run)


# --- by hand --------------------------------------------------------------------------


def risk(parameters, x, y):
    w, a = parameters
    prediction = jax.nn.relu(x @ w.T) @ a
    return jnp.mean((prediction - y) ** 2) / 2


def by_hand(over_members):
    def make(arrays, steps):
        def one(row):
            x, y, w, a = row
            down = lambda p, g: p - jnp.asarray(RATE, p.dtype) * g
            body = lambda _, p: jax.tree.map(down, p, jax.grad(risk)(p, x, y))
            return jax.lax.fori_loop(0, steps, body, (w, a))[0]

        program = jax.jit(over_members(one))
        rows = tuple(jnp.asarray(arrays[k]) for k in "xywa")
        return Run(lambda: program(rows))

    return make


def diffrax_by_hand(over_members):
    def make(arrays, steps):
        field = lambda _, p, args: jax.tree.map(jnp.negative, jax.grad(risk)(p, *args))

        def one(row):
            x, y, w, a = row
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(field),
                diffrax.Tsit5(),
                t0=0.0,
                t1=RATE * steps,
                dt0=RATE,
                y0=(w, a),
                args=(x, y),
                max_steps=None,
            )
            return solution.ys[0][0]  # pyright: ignore[reportOptionalSubscript]

        program = jax.jit(over_members(one))
        rows = tuple(jnp.asarray(arrays[k]) for k in "xywa")
        return Run(lambda: program(rows))

    return make


def numpy_loop(arrays, steps):
    members = len(arrays["x"])
    some = fewer(members, steps)

    def run():
        ends = []
        for x, y, w, a in zip(*(arrays[k][:some] for k in "xywa"), strict=True):
            w, a, n = w.copy(), a.copy(), len(x)
            rate = w.dtype.type(RATE)
            for _ in range(steps):
                h = x @ w.T
                z = np.maximum(h, 0)
                r = (z @ a - y) / n
                back = (r @ a.T) * (h > 0)
                w, a = w - rate * (back.T @ x), a - rate * (z.T @ r)
            ends.append(w)
        return np.stack(ends)

    return Run(run, some / members)


def torch_script(arrays, steps):
    import torch  # pyright: ignore[reportMissingImports]

    members = len(arrays["x"])
    some, tensor = fewer(members, steps), torch.from_numpy

    class Net(torch.nn.Module):
        def __init__(self, w, a):
            super().__init__()
            self.hidden = torch.nn.Linear(w.shape[1], w.shape[0], bias=False)
            self.out = torch.nn.Linear(w.shape[0], 1, bias=False)
            self.hidden.weight.data = w.clone()
            self.out.weight.data = a.T.clone()

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    def run():
        ends = []
        for x, y, w, a in zip(*(arrays[k][:some] for k in "xywa"), strict=True):
            net, x, y = Net(tensor(w), tensor(a)), tensor(x), tensor(y)
            optimiser = torch.optim.SGD(net.parameters(), lr=RATE)
            for _ in range(steps):
                optimiser.zero_grad()
                loss = torch.nn.functional.mse_loss(net(x), y) / 2
                loss.backward()
                optimiser.step()
            ends.append(net.hidden.weight.detach().numpy())
        return np.stack(ends)

    return Run(run, some / members)


def torch_ensemble(arrays, steps):
    import torch  # pyright: ignore[reportMissingImports]

    def run():
        x, y, w, a = (torch.from_numpy(arrays[k]).clone() for k in "xywa")
        w, a = w.requires_grad_(), a.requires_grad_()
        optimiser = torch.optim.SGD([w, a], lr=RATE)
        for _ in range(steps):
            optimiser.zero_grad()
            prediction = torch.bmm(torch.relu(torch.bmm(x, w.mT)), a)
            loss = ((prediction - y) ** 2).mean(dim=(1, 2)).sum() / 2
            loss.backward()
            optimiser.step()
        return w.detach().numpy()

    return Run(run)


def fewer(members: int, steps: int) -> int:
    """Members of a loop in Python: all cost the same, so some will do."""
    return min(members, max(_PYTHON_STEPS // steps, 1))


# --- end to end -----------------------------------------------------------------------


def mixed(key, *, n: int, m: int = 50):
    one, two = jax.random.split(key)
    return gaussian_teacher(one, n=n, d=5, sigma=0.5, n_test=1), balanced(
        two, m=m, d=5, scale=0.5
    )


def end_to_end(members: int, last: float, repeats: int) -> list[dict]:
    """Members of four sizes, each until it interpolates or until the last time."""
    sizes = (4, 12, 24, 48)
    experiment = Experiment(
        name="mixed",
        make=mixed,
        cell={"n": sizes},
        seeds=members // len(sizes),
        flow=Descent(rate=0.1),
        loss=half_mse,
        times=tuple(float(t) for t in np.arange(20.0, last + 1, 20.0)),
        measures={"train_risk": TrainRisk()},
        stop=TrainRiskBelow(1e-6),
    )
    seconds = {"simbias": [], "lockstep": []}
    batch = lockstep(experiment)
    for i in range(repeats + 1):
        began = time.perf_counter()
        ds = simulate(experiment)
        middle = time.perf_counter()
        statuses, attempts = batch()
        end = time.perf_counter()
        if i:  # the first compiles
            seconds["simbias"].append(middle - began)
            seconds["lockstep"].append(end - middle)
    medians = {who: float(np.median(s)) for who, s in seconds.items()}
    steps = ds["accepted"].values
    rows = [
        {
            "case": "end_to_end",
            "members": int(steps.size),
            "contender": who,
            "seconds": value,
            "ratio_to_simbias": value / medians["simbias"],
            "converged": int(np.sum(ds["status"].values == Status.CONVERGED))
            if who == "simbias"
            else int(np.sum(statuses == Status.CONVERGED)),
            "member_steps": int(steps.sum() if who == "simbias" else attempts),
        }
        for who, value in medians.items()
    ]
    for row in rows:
        print(json.dumps(row), flush=True, file=_stderr())
    return rows


def lockstep(experiment):
    """All members, padded to one size, in one vmapped batch until the last is done."""
    from simbias.ensemble.keys import member_keys
    from simbias.ensemble.members import member_flow
    from simbias.ensemble.padding import padded
    from simbias.ensemble.plan import make_plan

    plan, most = make_plan(experiment), max(experiment.cell["n"])
    recorder, flow = plan.recorder, member_flow(experiment, plan.cell(0))
    pairs = []
    for member in range(plan.size):
        cell = plan.cell(member)
        key, _ = member_keys(experiment.root, cell, plan.seed(member))
        data, network = experiment.make(key, **cell.arguments)
        pairs.append((padded(data, most), network))
    data, network = jax.tree.map(lambda *v: jnp.stack(v), *pairs)

    @eqx.filter_jit
    def run(data, network):
        begin = lambda net, some: start(recorder, flow, net, some, jax.random.key(0))
        lanes = eqx.filter_vmap(begin)(network, data)
        end = advance_all(recorder, lanes, jnp.int32(2**31 - 1), "side by side")
        return end.state.status, jnp.max(end.state.stats["accepted"])

    def call():
        statuses, longest = run(data, network)
        return np.asarray(statuses), int(longest) * plan.size

    return call


def _stderr():
    import sys

    return sys.stderr


if __name__ == "__main__":
    main()
