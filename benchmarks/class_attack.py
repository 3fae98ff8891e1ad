"""Is a wide network that is moved by its classes where the plain flow takes it?

Random wide networks in one to three dimensions with all oddities of `_cases.py`, and
with sizes of neurons that differ by up to nine orders of magnitude.  Each runs three
times: moved by classes at rtol 1e-6, and plainly at rtol 1e-6 and 1e-9.  Per case:

    error       largest distance of a neuron at any time from the plain run at 1e-9,
                relative to |(w, a)|
    conserved   largest change of wᵢ·wⱼ − aᵢaⱼ, relative to |(w, a)ᵢ| |(w, a)ⱼ|, of two
                neurons that have one pattern at two successive times; the flow keeps it
                while they share their pattern, so a change that the plain run does not
                have is an error

and a verdict: `right` if neither exceeds 1000 rtol; `sensitive` if the plain run at
1e-6 is as far from that at 1e-9; `chosen` if the flow counts a choice; else `silent`.

    python benchmarks/class_attack.py [--cases N] [--seed FIRST] [--processes N]
        [--json FILE|-] [--smallest]

There are nine kinds of cases, each with three programs of its own to compile; with
--processes the kinds are shared out.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import multiprocessing
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _cases import CHANGES, SAMPLES, N
from _results import machine, written

from simbias import losses
from simbias.core import Dataset, Status
from simbias.flows._relu import neuron_state
from simbias.flows.relu_flow import ReluFlow
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

RTOL, CLOSE = 1e-6, 1e-9
ALLOWED = 1000 * RTOL
TIMES = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0])
PROGRAMS = (("half_mse", 0.0), ("half_mse", 0.1), ("logistic", 0.0))
LANES, MAX_STEPS = 8, 30_000
# Neurons per weight of one from which classes are used.
PER_WEIGHT = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=450)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--smallest", action="store_true", help="a run for CI")
    options = parser.parse_args()
    seeds, times = range(options.seed, options.seed + options.cases), TIMES
    if options.smallest:
        # Each of the nine kinds compiles three programs.
        seeds, times = [0], TIMES[:2]
    alike = [[seed for seed in seeds if seed % 9 == kind] for kind in range(9)]
    attack = functools.partial(attacked, times=times)
    if options.processes > 1:
        context = multiprocessing.get_context("spawn")
        pool = concurrent.futures.ProcessPoolExecutor(options.processes, context)
        with pool:
            found = list(pool.map(attack, alike))
    else:
        found = map(attack, alike)
    rows = sorted((row for some in found for row in some), key=lambda row: row["seed"])
    counts = lambda some: dict(collections.Counter(row["verdict"] for row in some))
    summary = {
        "cases": len(rows),
        "verdicts": counts(rows),
        "by_dimension": {
            d: counts([row for row in rows if row["d"] == d]) for d in (1, 2, 3)
        },
        "largest_error_of_right": max(
            (row["error"] for row in rows if row["verdict"] == "right"), default=0.0
        ),
    }
    if options.json:
        document = {"summary": summary, **machine(), "rows": rows}
        written(options.json, document, a_row_a_line=True)
    print(json.dumps(summary, indent=1), file=sys.stderr)


def attacked(seeds: list[int], times: np.ndarray = TIMES) -> list[dict]:
    """A row per case; all of them are of one kind."""
    jax.config.update("jax_enable_x64", True)
    by_classes, rows = neuron_state.may_be_worth_it, []
    for i in range(0, len(seeds), LANES):
        some = seeds[i : i + LANES]
        loss, slope = PROGRAMS[some[0] % 9 // 3]
        cases = [wide_case(seed) for seed in some]
        lanes = min(LANES, len(seeds))  # of one program
        filled = cases + [cases[-1]] * (lanes - len(cases))
        batch = [np.stack(v) for v in zip(*(c[:4] for c in filled), strict=True)]
        ends = {}
        for name, rtol in (("few", RTOL), ("plain", RTOL), ("close", CLOSE)):
            of = by_classes if name == "few" else lambda *_: False
            neuron_state.may_be_worth_it = of
            run = _by_classes if name == "few" else _plainly
            ends[name] = jax.device_get(run(*batch, times, rtol, loss, slope))
        neuron_state.may_be_worth_it = by_classes
        for j, seed in enumerate(some):
            of_one = {k: jax.tree.map(lambda v, j=j: v[j], e) for k, e in ends.items()}
            rows.append(judged(seed, cases[j], of_one, loss, slope))
            print(json.dumps(rows[-1]), flush=True)
    jax.clear_caches()
    return rows


def wide_case(seed: int) -> tuple:
    """x, y, w, a and the names of what is odd; d, loss and slope follow the seed."""
    rng, d = np.random.default_rng(seed), 1 + seed % 3
    law = SAMPLES[rng.integers(len(SAMPLES))]
    x, y = law(rng, 1)
    kinds = [law.__name__.strip("_")]
    for change in rng.choice(len(CHANGES), rng.choice([0, 1, 1, 2]), replace=False):
        x, y = CHANGES[change](rng, x, y)
        kinds.append(CHANGES[change].__name__.strip("_"))
    x = np.pad(x[:, :d], [(0, 0), (0, max(d - x.shape[1], 0))])
    if PROGRAMS[seed % 9 // 3][0] != "half_mse":
        y = np.where(y < 0, -1.0, 1.0)
    m = PER_WEIGHT * (d + 1)
    centres = rng.standard_normal((rng.integers(1, 30), d))
    spread = 10.0 ** rng.uniform(-9, 0)
    w = centres[rng.integers(len(centres), size=m)]
    w = w + spread * rng.standard_normal((m, d))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    size = np.exp(rng.choice([0, 0.5, 3]) * rng.standard_normal(m))
    size *= 10 ** rng.uniform(-3, 0) / np.linalg.norm(size)
    a = rng.choice([-1.0, 1.0], m) * size
    for name, change in STARTS.items():
        if rng.random() < 0.25:
            kinds.append(name)
            size, a = change(rng, size, a)
    w = size[:, None] * w
    n = len(x)
    pad = lambda v: np.pad(v, [(0, N - n), (0, 0)])
    return (pad(x), pad(y), w, a[:, None], n, kinds)


def _some(rng, size):
    return rng.random(len(size)) < rng.choice([0.01, 0.3])


def _tiny(rng, size, a):
    factor = np.where(_some(rng, size), 10.0 ** rng.uniform(-9, -3), 1)
    return factor * size, factor * a


def _small_a(rng, size, a):
    return size, np.where(_some(rng, size), rng.uniform(0, 0.9, len(a)) * a, a)


def _small_w(rng, size, a):
    return np.where(_some(rng, size), rng.uniform(0.1, 0.9, len(a)) * size, size), a


def _zero(rng, size, a):
    some = _some(rng, size)
    return np.where(some, 0, size), np.where(some, 0, a)


STARTS = {"tiny": _tiny, "small_a": _small_a, "small_w": _small_w, "zero": _zero}


def _flow(x, y, w, a, times, rtol, loss, slope):
    activation = LeakyRelu(slope) if slope else jax.nn.relu
    loss = getattr(losses, loss)

    def one(x, y, w, a):
        is_some = jnp.any(x != 0, axis=1) | (jnp.abs(y[:, 0]) > 0)
        data = Dataset(x, y, is_some.astype(float), y, jnp.zeros((0, x.shape[1])))
        flow = ReluFlow(rtol=rtol, max_steps=MAX_STEPS)
        state = flow.init(
            TwoLayer(w, a, None, activation), data, loss, jax.random.key(0)
        )

        def to(state, until):
            state = jax.lax.while_loop(
                lambda s: (s.status == Status.RUNNING) & (s.time < until),
                lambda s: flow.step(s, data, loss, until),
                state,
            )
            rows = jnp.concatenate([state.network.w, state.network.a], axis=1)
            return state, (rows, state.memory.neurons.is_above)

        state, records = jax.lax.scan(to, state, jnp.asarray(times))
        return *records, state.status, state.stats

    return eqx.filter_vmap(one)(x, y, w, a)


# Two functions, for two programs: which of them is used is decided while tracing.
_by_classes = jax.jit(lambda *args: _flow(*args), static_argnums=(6, 7))
_plainly = jax.jit(lambda *args: _flow(*args), static_argnums=(6, 7))


def judged(seed: int, case: tuple, ends: dict, loss: str, slope: float) -> dict:
    rows, sides, status, stats = ends["few"]
    close = ends["close"][0]
    apart = lambda one: float(np.max(_apart(one, close)))
    error, plain = apart(rows), apart(ends["plain"][0])
    verdict = "silent"
    broken = conserved(rows, sides), conserved(close, ends["close"][1])
    if not np.isfinite(error) or status != Status.RUNNING:
        verdict = "failed"
    elif error <= ALLOWED and broken[0] <= broken[1] + ALLOWED:
        verdict = "right"
    elif plain > ALLOWED / 3:
        verdict = "sensitive"
    elif stats["nonunique_events"]:
        verdict = "chosen"
    names = (
        "accepted",
        "rejected",
        "aggregated",
        "evaluations",
        "nonunique_events",
        "crossings",
    )
    return {
        "seed": seed,
        "verdict": verdict,
        "d": 1 + seed % 3,
        "n": case[4],
        "m": len(case[2]),
        "loss": loss,
        "slope": slope,
        "kinds": case[5],
        "error": float(f"{error:.3g}"),
        "plain_error": float(f"{plain:.3g}"),
        "conserved": float(f"{broken[0]:.3g}"),
        "plain_conserved": float(f"{broken[1]:.3g}"),
        **{name: int(stats[name]) for name in names},
    }


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(other, axis=2)
    apart = np.linalg.norm(one - other, axis=2)
    return np.where(size > 0, apart / np.where(size > 0, size, 1), apart)


def conserved(rows: np.ndarray, sides: np.ndarray) -> float:
    """Largest relative change of wᵢ·wⱼ − aᵢaⱼ between successive times."""
    size, worst = np.linalg.norm(rows, axis=2), 0.0
    minus = rows * np.append(np.ones(rows.shape[2] - 1), -1)
    for t in range(len(rows) - 1):
        both = np.concatenate([sides[t], sides[t + 1]], axis=1)
        _, first, kind = np.unique(both, axis=0, return_index=True, return_inverse=True)
        other = first[kind.ravel()]
        product = [np.sum(rows[s] * minus[s][other], axis=1) for s in (t, t + 1)]
        scale = np.max([size[s] * size[s][other] for s in (t, t + 1)], axis=0)
        change = np.abs(product[1] - product[0]) / np.where(scale > 0, scale, 1)
        worst = max(worst, float(np.max(change)))
    return worst


if __name__ == "__main__":
    main()
