"""Is `VanishingStart` the limit of the flow from λ = 1e-20, 1e-50, 1e-100, 1e-250?

Random training sets of n = 4 to 8 samples in d = 2 or 3 dimensions, x ~ N(0, I) and
y = β·x + σ η with σ = 0.3 or labels without a teacher, and 12 neurons with |a| = |w|.
Of each problem: the limit; then `ReluFlow` from the same directions with |w| = λ.  A
neuron has grown once |w| exceeds a hundredth of √(Σ|y|/Σ|x|), at the time t_j.  For
each λ and problem whose limit has ended:

* whether the neurons that lead a jump grow in the order of the limit, and no more
  neurons grow than leave in the limit (neurons whose direction turned far are smaller
  by a factor, and may stay below the hundredth);
* t − s ln(1/λ) of each leader, which should not depend on λ.  A leader that had already
  left with another cluster, and fell back, is measured at its first growth;
* |f − f∞|/|f∞| on 200 points;
* whether all output weights keep their signs, as they do while |a| = |w|.  The flow
  keeps a² − |w|² to its tolerance only, and a neuron that shrinks may become smaller
  than that.

Problems run side by side in a batch; one that has ended makes room for the next.  A
FILE that exists is continued.

    python benchmarks/vanishing_start.py [--json FILE|-] [--problems P] [--minutes M]
                                         [--figure FILE] [--smallest]
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _results import machine, written
from matplotlib.figure import Figure

from simbias.core import Dataset, Status
from simbias.flows.relu_flow import ReluFlow
from simbias.flows.vanishing_start import VanishingStart
from simbias.losses import half_mse
from simbias.networks.two_layer import TwoLayer

N, D, M = 8, 3, 12
GROWN, LATER, EQUAL = 1e-2, 3000.0, 1e-3
# In units of t: errors of first jumps are smaller.
CLOSE = 30.0
# Cases in a batch, problems between two writings, attempts between two looks.
AT_ONCE, PART, TURNS = 48, 96, 100
LIMIT, FLOW = (
    VanishingStart(rtol=1e-6, max_steps=3000),
    ReluFlow(rtol=1e-6, decouple=True, max_steps=8000),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the processor")
    parser.add_argument("--figure")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    scales, count, path = (1e-20, 1e-50, 1e-100, 1e-250), options.problems, options.json
    at_once = AT_ONCE
    if options.smallest:
        scales, count, at_once = (1e-20,), 1, 1
    rows = []
    if path != "-" and pathlib.Path(path).exists():
        rows = json.loads(pathlib.Path(path).read_text())["rows"]
    first = len(rows)
    while len(rows) < count and time.process_time() < 60 * options.minutes:
        seeds = list(range(len(rows), min(len(rows) + PART, count)))
        rows += part(seeds, scales, at_once)
        print(f"{len(rows)} problems, {time.process_time():.0f} s", file=sys.stderr)
        document = {"summary": summary(rows, scales), "differ": differ(rows)}
        cost = {"problems_now": len(rows) - first, "cpu_seconds": time.process_time()}
        written(path, {**machine(), **cost, **document, "rows": rows})
    if options.figure:
        figure(rows, scales).savefig(options.figure, dpi=120)


def part(seeds: list[int], scales: tuple[float, ...], at_once: int) -> list[dict]:
    """Rows of some problems."""
    problems = [problem(seed) for seed in seeds]
    limits = [(data, network, 1.0, np.inf) for data, network, _ in problems]
    ends = side_by_side(LIMIT, limits, at_once)
    cases, of = [], []
    for i, (state, _, _) in enumerate(ends):
        if state.status in (Status.CONVERGED, Status.STATIONARY):
            for scale in scales:
                cases.append((*problems[i][:2], scale, until(state, scale)))
                of.append((i, scale))
    runs: list[list[dict]] = [[] for _ in seeds]
    for (i, scale), found in zip(of, side_by_side(FLOW, cases, at_once), strict=True):
        runs[i].append(against(ends[i][0], found, scale))
    return [
        {"seed": seed, **problems[i][2], **seen(ends[i][0]), "runs": runs[i]}
        for i, seed in enumerate(seeds)
    ]


def side_by_side(flow, cases: list[tuple], at_once: int) -> list[tuple]:
    """(state, when neurons have grown, whether they keep their signs) of every case.

    Args:
        flow: of all.
        cases: data, network of scale 1, scale and time to reach.
        at_once: how many run at a time.
    """
    ends: list[Any] = [None] * len(cases)
    waiting, stack = list(range(len(cases))), lambda *v: jnp.stack(v)
    places = [waiting.pop(0) if waiting else 0 for _ in range(at_once)]
    here = jax.tree.map(stack, *(cases[i] for i in places))
    carry = begun(flow, here)
    while any(end is None for end in ends):
        carry = advanced(flow, here, carry)
        state = carry[0]
        running = (state.status == Status.RUNNING) & (state.time < here[3])
        fresh = np.zeros(at_once, bool)
        for k in np.flatnonzero(~np.asarray(running)):
            if ends[places[k]] is None:
                ends[places[k]] = jax.tree.map(lambda v, k=k: v[k], carry)
            if waiting:
                places[k], fresh[k] = waiting.pop(0), True
        if fresh.any():
            here = jax.tree.map(stack, *(cases[i] for i in places))
            carry = renewed(jnp.asarray(fresh), begun(flow, here), carry)
    return ends


def renewed(is_fresh, new, old):
    """New carries in some places of a batch."""
    shaped = lambda v: is_fresh.reshape(-1, *(1,) * (v.ndim - 1))
    return jax.tree.map(lambda a, b: jnp.where(shaped(a), a, b), new, old)


@eqx.filter_jit
def begun(flow, here):
    """The first carry of all."""

    def one(data, network, scale, _):
        start = dataclasses.replace(network, w=scale * network.w, a=scale * network.a)
        state = flow.init(start, data, half_mse, jax.random.key(0))
        return state, jnp.full(M, jnp.nan), jnp.ones(M, bool)

    return jax.vmap(one)(*here)


@eqx.filter_jit
def advanced(flow, here, carry):
    """Up to `TURNS` attempts of each."""

    def one(case, carry):
        (data, network, _, until), (state, grown, keeps) = case, carry
        y, x = jnp.abs(data.y[:, 0]), jnp.linalg.norm(data.x, axis=1)
        large = GROWN * jnp.sqrt(jnp.sum(y) / jnp.sum(x))
        goes = (state.status == Status.RUNNING) & (state.time < until)
        new = flow.step(state, data, half_mse, until)
        new = jax.tree.map(lambda a, b: jnp.where(goes, a, b), new, state)
        keeps &= new.network.a[:, 0] * network.a[:, 0] > 0
        is_new = jnp.isnan(grown) & (jnp.abs(new.network.a[:, 0]) > large)
        return new, jnp.where(is_new, new.time, grown), keeps

    def turn(carry):
        return carry[0] + 1, jax.vmap(one)(here, carry[1])

    def goes(carry):
        state = carry[1][0]
        running = (state.status == Status.RUNNING) & (state.time < here[3])
        return (carry[0] < TURNS) & jnp.any(running)

    return jax.lax.while_loop(goes, turn, (0, carry))[1]


def problem(seed: int) -> tuple[Dataset, TwoLayer, dict]:
    """A training set, padded to one shape, and neurons of length 1."""
    rng = np.random.default_rng(seed)
    n, d, is_taught = int(rng.integers(4, N + 1)), int(rng.integers(2, D + 1)), seed % 2
    x, w = np.zeros((N, D)), np.zeros((M, D))
    x[:n, :d], w[:, :d] = rng.normal(size=(n, d)), rng.normal(size=(M, d))
    y = np.zeros((N, 1))
    y[:n, 0] = 0.3 * rng.normal(size=n) + x[:n, :d].sum(axis=1) / d**0.5
    if not is_taught:
        y[:n, 0] = rng.normal(size=n)
    a = np.where(rng.random((M, 1)) < 0.5, -1.0, 1.0)
    weight = (np.arange(N) < n).astype(float)
    target, none = jnp.asarray(y), jnp.zeros((0, D))
    data = Dataset(jnp.asarray(x), target, jnp.asarray(weight), target, none)
    w = jnp.asarray(w / np.linalg.norm(w, axis=1, keepdims=True))
    about = {"n": n, "d": d, "has_teacher": bool(is_taught)}
    return data, TwoLayer(w, jnp.asarray(a)), about


def seen(state) -> dict:
    """Of the limit."""
    saddle, count = state.memory, int(state.memory.count)
    return {
        "status": Status(int(state.status)).name,
        "times": np.asarray(saddle.time)[:count].tolist(),
        "losses": np.asarray(saddle.loss)[:count].tolist(),
        "leaders": np.asarray(saddle.neuron)[:count].astype(int).tolist(),
        "neurons": np.asarray(saddle.leaving)[:count].astype(int).tolist(),
        "falls_back": int(np.asarray(saddle.is_large).sum())
        < int(np.nansum(np.asarray(saddle.leaving)[:count])),
        "attempts": int(state.stats["accepted"] + state.stats["rejected"]),
    }


def until(state, scale: float) -> float:
    """Time after which the flow from λ has come to the end of the limit."""
    times, unit = seen(state)["times"], float(-np.log(scale))
    last_jump = times[-1] * unit if times else 0.0
    return 1.2 * last_jump + LATER + 3 * float(state.memory.orbit.time)


def against(state, found, scale: float) -> dict:
    """The flow from λ beside the limit."""
    of, unit = seen(state), float(-np.log(scale))
    last, grown, keeps = found
    when = np.asarray(grown)[of["leaders"]]
    # A neuron that leaves, falls back and leaves again has grown once.
    first = [i for i, j in enumerate(of["leaders"]) if j not in of["leaders"][:i]]
    error = (when[first] - np.asarray(of["times"])[first] * unit).tolist()
    points = jax.random.normal(jax.random.key(1), (200, D))
    f, f_limit = (jax.vmap(net)(points) for net in (last.network, state.network))
    size = jnp.linalg.norm(f_limit)
    count = int(np.isfinite(grown).sum())
    neurons = last.memory.neurons
    square = lambda w, a: np.sum(np.asarray(w) ** 2, axis=1) + np.asarray(a)[:, 0] ** 2
    speed = np.sqrt(square(neurons.rates.w, neurons.rates.a))
    moves = (speed / np.sqrt(square(neurons.w, neurons.a)))[np.isfinite(grown)]
    return {
        "scale": scale,
        "status": Status(int(last.status)).name,
        "has_order": bool(np.all(np.diff(when[first]) > 0)),
        "grown": count,
        "no_others": count <= sum(of["neurons"]),
        "keeps_signs": bool(jnp.all(keeps)),
        "moves": float(np.max(moves, initial=0) / state.memory.speed),
        "error": error,
        "distance": float(jnp.linalg.norm(f - f_limit) / jnp.where(size > 0, size, 1)),
    }


def summary(rows: list[dict], scales: tuple[float, ...]) -> dict:
    """Counts, and quantiles (½, 0.9, 1), over the problems whose limit has ended."""
    out: dict = {"statuses": {k: sum(r["status"] == k for r in rows) for k in STATUSES}}
    quantiles = lambda v: np.quantile(v, (0.5, 0.9, 1)).tolist() if v else []
    over = [r for r in rows if r["runs"]]
    for i, scale in enumerate(scales):
        runs = [r["runs"][i] for r in over]
        distance = [r["distance"] for r in runs]
        first = [abs(r["error"][0]) for r in runs if r["error"]]
        first = [v for v in first if np.isfinite(v)]
        out[f"{scale:g}"] = {
            "problems": len(runs),
            "ordered": sum(r["has_order"] and r["no_others"] for r in runs),
            "close": sum(v < EQUAL for v in distance),
            "keep_signs": sum(r["keeps_signs"] for r in runs),
            "first_error": quantiles(first),
            "distance": quantiles(distance),
        }
    # How much the first two errors, in units of t, differ between two λ.
    if len(scales) > 2:
        pairs = [
            zip(r["runs"][1]["error"], r["runs"][-1]["error"], strict=False)
            for r in over
        ]
        spread = [abs(a - b) for p in pairs for a, b in list(p)[:2]]
        out["spread"] = quantiles([v for v in spread if np.isfinite(v)])
    return out


def differ(rows: list[dict]) -> list[dict]:
    """Every run that ends elsewhere than the limit, and what may explain it."""
    out = []
    for r in rows:
        gap = min(np.diff(r["times"]), default=np.inf)
        for run in r["runs"]:
            if run["distance"] < EQUAL:
                continue
            causes = {
                "the flow used all its steps": run["status"] == "MAX_STEPS",
                "an output weight changed its sign": not run["keeps_signs"],
                "the flow still moves": run["moves"] > 1e-6,
                "two jumps are close": gap * -np.log(run["scale"]) < CLOSE,
                "the limit fell back": r["falls_back"],
            }
            found = [k for k, v in causes.items() if v] or ["not explained"]
            ends = {k: run[k] for k in ("scale", "distance", "has_order", "no_others")}
            out.append({"seed": r["seed"], **ends, "causes": found})
    return out


def figure(rows: list[dict], scales: tuple[float, ...]) -> Figure:
    """Times of the jumps against 1/ln(1/λ), and how far the flow's end is."""
    x = 1 / -np.log(np.array(scales))
    fig = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = fig.subplots(1, 2)
    shown = [r for r in rows if len(r["times"]) >= 2 and max(r["times"]) < 10]
    is_whole = lambda r: [len(u["error"]) >= 2 for u in r["runs"]] == [True] * len(x)
    shown = [r for r in shown if is_whole(r)][:5]
    for i, r in enumerate(shown):
        for k in range(min(2, len(r["times"]))):
            error = np.array([run["error"][k] for run in r["runs"]])
            left.plot(x, r["times"][k] + error * x, "o-", color=f"C{i}", ms=4)
            left.plot(0, r["times"][k], "*", color=f"C{i}", ms=9)
    left.set(xlabel="1/ln(1/λ)", ylabel="t/ln(1/λ) at a jump", xlim=(-0.001, None))
    left.set_title("first two jumps of five problems; stars: the limit", fontsize=9)
    for r in rows:
        if r["runs"] and len(r["runs"]) == len(scales):
            distance = [max(run["distance"], 1e-8) for run in r["runs"]]
            right.semilogy(x, distance, "o", color="C0", alpha=0.3, ms=4)
    right.set(xlabel="1/ln(1/λ)", ylabel="|f − f∞|/|f∞| at the end")
    right.set_title("one dot: one problem", fontsize=9)
    return fig


STATUSES = ("CONVERGED", "STATIONARY", "TIE", "MAX_STEPS", "CAPACITY", "NONFINITE")


if __name__ == "__main__":
    main()
