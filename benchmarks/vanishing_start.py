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

    python benchmarks/vanishing_start.py [--json FILE|-] [--problems P] [--minutes M]
                                         [--figure FILE] [--smallest]
"""

import argparse
import dataclasses
import time

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
GROWN, LATER = 1e-2, 3000.0
LIMIT, FLOW = (
    VanishingStart(rtol=1e-6, max_steps=5000),
    ReluFlow(rtol=1e-6, decouple=True, max_steps=20_000),
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
    scales, count = (1e-20, 1e-50, 1e-100, 1e-250), options.problems
    if options.smallest:
        scales, count = (1e-20,), 1
    rows = []
    for seed in range(count):
        if time.process_time() > 60 * options.minutes:
            break
        data, network, about = problem(seed)
        begin = time.perf_counter()
        state = jax.block_until_ready(limit(network, data))
        seconds = {"seconds": time.perf_counter() - begin}
        is_over = state.status in (Status.CONVERGED, Status.STATIONARY)
        runs = [against(state, network, data, scale) for scale in scales if is_over]
        rows.append({"seed": seed, **about, **seen(state), **seconds, "runs": runs})
    out = {**machine(), "summary": summary(rows, scales), "rows": rows}
    written(options.json, out)
    if options.figure:
        figure(rows, scales).savefig(options.figure, dpi=120)


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


@eqx.filter_jit
def limit(network, data):
    """The state at the end of the limit."""
    state = LIMIT.init(network, data, half_mse, jax.random.key(0))
    step = lambda s: LIMIT.step(s, data, half_mse, jnp.float64(jnp.inf))
    return jax.lax.while_loop(lambda s: s.status == Status.RUNNING, step, state)


@eqx.filter_jit
def flow(network, data, scale, until):
    """The state at a time, when each neuron has grown, whether it kept its sign."""
    start = dataclasses.replace(network, w=scale * network.w, a=scale * network.a)
    y, x = jnp.abs(data.y[:, 0]), jnp.linalg.norm(data.x, axis=1)
    large = GROWN * jnp.sqrt(jnp.sum(y) / jnp.sum(x))
    state = FLOW.init(start, data, half_mse, jax.random.key(0))

    def step(carry):
        state, grown, keeps = carry
        state = FLOW.step(state, data, half_mse, until)
        keeps &= state.network.a[:, 0] * network.a[:, 0] > 0
        is_new = jnp.isnan(grown) & (jnp.abs(state.network.a[:, 0]) > large)
        return state, jnp.where(is_new, state.time, grown), keeps

    goes = lambda c: (c[0].status == Status.RUNNING) & (c[0].time < until)
    first = (state, jnp.full(M, jnp.nan), jnp.ones(M, bool))
    return jax.lax.while_loop(goes, step, first)


def seen(state) -> dict:
    """Of the limit."""
    saddle, count = state.memory, int(state.memory.count)
    return {
        "status": Status(int(state.status)).name,
        "times": np.asarray(saddle.time)[:count].tolist(),
        "losses": np.asarray(saddle.loss)[:count].tolist(),
        "leaders": np.asarray(saddle.neuron)[:count].astype(int).tolist(),
        "neurons": np.asarray(saddle.leaving)[:count].astype(int).tolist(),
        "attempts": int(state.stats["accepted"] + state.stats["rejected"]),
    }


def against(state, network, data, scale: float) -> dict:
    """The flow from λ beside the limit."""
    of = seen(state)
    unit = float(-np.log(scale))
    last_jump = of["times"][-1] * unit if of["times"] else 0.0
    until = 1.2 * last_jump + LATER + 3 * float(state.memory.orbit.time)
    begin = time.perf_counter()
    found = flow(network, data, scale, jnp.float64(until))
    last, grown, keeps = jax.block_until_ready(found)
    seconds = time.perf_counter() - begin
    when = np.asarray(grown)[of["leaders"]]
    # A neuron that leaves, falls back and leaves again has grown once.
    first = [i for i, j in enumerate(of["leaders"]) if j not in of["leaders"][:i]]
    error = (when[first] - np.asarray(of["times"])[first] * unit).tolist()
    points = jax.random.normal(jax.random.key(1), (200, D))
    f, f_limit = (jax.vmap(net)(points) for net in (last.network, state.network))
    size = jnp.linalg.norm(f_limit)
    count = int(np.isfinite(grown).sum())
    return {
        "scale": scale,
        "status": Status(int(last.status)).name,
        "has_order": bool(np.all(np.diff(when[first]) > 0)),
        "grown": count,
        "no_others": count <= sum(of["neurons"]),
        "keeps_signs": bool(jnp.all(keeps)),
        "error": error,
        "distance": float(jnp.linalg.norm(f - f_limit) / jnp.where(size > 0, size, 1)),
        "seconds": seconds,
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
            "close": sum(v < 1e-3 for v in distance),
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
