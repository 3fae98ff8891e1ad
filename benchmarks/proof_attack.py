"""Is a limit that `Stationary` claims where the gradient flow stays?

Random members with every oddity of `_cases.py` (mirror images, lattices, duplicates,
inputs of low rank, several neurons alike), and those that an activation boundary can
fool: |w| above |a| by 0, 1 or 10 roundings, dead neurons at 0 to 1e-9 of a plane,
neurons at 0 to 1e-9 of a plane whose |a| is below |w| by up to 17 orders of magnitude,
and weights and data in single precision.  Each is followed by the exact flow (rtol
1e-7; 1e-5 in single precision) until `Stationary` ends it by a proof: that a small loss
ends it as well is switched off here.  From there it goes on

    flow     to t = 1e5 by the exact flow without the stop; in double precision, from
             the weights alone, where it was in single
    descent  for a time of 1e3 more by explicit Euler in C (`_euler.c`), which knows
             nothing of events, from the weights alone

and no neuron may leave its end by more than `Stationary.tolerance`, relative to its
size.  Euler's end is extrapolated from two steps, since it is off by the first order of
a step where neurons slide; steps are halved until two extrapolations are within a tenth
of the tolerance.  Where they never are, Euler says nothing (`is_judged` is false), and
a case that the flow does not refute either neither holds nor fails.

    python benchmarks/proof_attack.py [--cases N] [--seed FIRST] [--json FILE|-]
        [--smallest]
"""

import argparse
import collections
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _cases import Case, random_case
from _euler import Problem, run
from _results import machine, written
from _verdicts import network, sample

from simbias import losses
from simbias.core import Status
from simbias.flows.relu_flow import ReluFlow
from simbias.stops.stationary import Stationary

STOP = Stationary(interpolated=1e-300)
LOOKS = np.geomspace(0.5, 3000.0, 60)
LAST, MAX_STEPS = 1e5, 20_000
DESCENT_TIME, STEP, _HALVINGS = 1e3, 1e-2, 8
LANES = 16
# Seeds of `random_case` that have half_mse and one output, of eighteen.
_PROGRAMS = (0, 1, 7, 12, 13)
# Roundings by which |w| is above |a|.
_ABOVE = (0, 1, 10)
# Tries to find a direction that no sample sees.
_TRIES = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--json")
    parser.add_argument("--smallest", action="store_true", help="a run for CI")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    descent_time = DESCENT_TIME
    if options.smallest:
        options.cases, descent_time = 1, 1.0
    rows = []
    seeds = range(options.seed, options.seed + options.cases)
    for row in attacked(seeds, descent_time):
        rows.append(row)
        print(json.dumps(row), flush=True)
    rows.sort(key=lambda row: row["case"])
    summary = summarised(rows)
    if options.json:
        document = {"summary": summary, **machine(), "rows": rows}
        written(options.json, document, a_row_a_line=True)
    print(json.dumps(summary, indent=1), file=sys.stderr)


def summarised(rows: list[dict]) -> dict:
    """Claims, those that are wrong, and the largest distances."""
    claimed = [row for row in rows if "flow" in row]
    kinds = sorted({kind for row in rows for kind in row["kinds"]})
    of = lambda some: {
        "cases": len(some),
        "claimed": sum("flow" in row for row in some),
        "wrong": sum(row.get("holds") is False for row in some),
    }
    return {
        **of(rows),
        "statuses": dict(collections.Counter(row["status"] for row in rows)),
        "largest": {
            name: max((row[name] for row in claimed), default=0.0)
            for name in ("flow", "descent", "own_error")
        },
        "followed_to_the_end": sum(row["time"] >= LAST for row in claimed),
        "not_judged_by_descent": [r["case"] for r in claimed if not r["is_judged"]],
        "kinds": {k: of([row for row in rows if k in row["kinds"]]) for k in kinds},
    }


def attacked(
    seeds: Iterable[int], descent_time: float = DESCENT_TIME
) -> Iterator[dict]:
    """One row per case, those of one program together."""
    groups = collections.defaultdict(list)
    for seed in seeds:
        case, is_single = attack_case(seed)
        groups[case.slope, case.b is None, is_single].append(case)
    for (_, _, is_single), group in groups.items():
        for i in range(0, len(group), LANES):
            some = group[i : i + LANES]
            lanes = min(LANES, len(group))  # of one program
            filled = [*some, *[some[-1]] * (lanes - len(some))]
            stack = lambda trees: jax.tree.map(lambda *v: jnp.stack(v), *trees)
            trees = stack([(network(case), sample(case)) for case in filled])
            if is_single:
                trees = jax.tree.map(lambda v: v.astype(jnp.float32), trees)
            ends = jax.device_get(_followed(*trees, rtol=1e-5 if is_single else 1e-7))
            for j, case in enumerate(some):
                one = jax.tree.map(lambda v, j=j: v[j], ends)
                yield _row(case, is_single, one, descent_time)


def attack_case(seed: int) -> tuple[Case, bool]:
    """A case, and whether it is in single precision."""
    block, place = divmod(seed, len(_PROGRAMS))
    case = random_case(18 * block + _PROGRAMS[place])
    rng = np.random.default_rng([seed, 1])
    w, a, kinds = case.problem.w.copy(), case.a.copy(), list(case.kinds)
    is_single = bool(rng.random() < 0.25)
    eps = float(np.finfo(np.float32 if is_single else float).eps)
    if "balanced" in kinds:
        above = int(rng.choice(_ABOVE))
        size = np.linalg.norm(w, axis=1)
        a[:, 0] = np.sign(a[:, 0]) * size * (1 - above * eps)
        kinds.append(f"above_by_{above}")
    if rng.random() < 0.3:
        dead = _dead(rng, case.problem.x[case.weight > 0])
        if dead is not None:
            kinds.append("dead_near_a_plane")
            j = rng.integers(len(w))
            w[j] = dead * rng.uniform(0.01, 1)
            a[j] = rng.choice([-1, 1]) * np.linalg.norm(w[j])
    other = np.random.default_rng([seed, 2])
    if other.random() < 0.25:
        kinds.append("tiny_a_beside_a_plane")
        j, x = other.integers(len(w)), case.problem.x[case.weight > 0]
        w[j] = _beside(other, x) * other.uniform(0.01, 1)
        a[j] = other.choice([-1, 1]) * 10.0 ** -other.uniform(0, 17)
        a[j] *= np.linalg.norm(w[j])
    if is_single:
        kinds.append("single_precision")
    d = case.x.shape[1]
    b = None if case.b is None else w[:, d]
    case = dataclasses.replace(
        case, name=str(seed), kinds=tuple(kinds), w=w[:, :d], b=b, a=a
    )
    if is_single:
        narrow = lambda v: v.astype(np.float32).astype(float)
        names = ("x", "y", "w", "a") if b is None else ("x", "y", "w", "a", "b")
        changed = {name: narrow(getattr(case, name)) for name in names}
        case = dataclasses.replace(case, **changed)
    return case, is_single


def _beside(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A direction at 0 to 1e-9 of the plane of a sample, on either side."""
    norms = np.linalg.norm(x, axis=1)
    w = rng.standard_normal(x.shape[1])
    if np.any(norms > 0):
        some = rng.choice(x[norms > 0] / norms[norms > 0][:, None])
        w = w - (w @ some) * some
        size = np.linalg.norm(w)
        distance = rng.choice([0.0, *10.0 ** np.arange(-17, -8.0)])
        # In one dimension there is nothing beside a plane but the point 0.
        w = w / size if size > 1e-6 else 0 * w
        w = w + rng.choice([-1, 1]) * distance * some
    return w


def _dead(rng: np.random.Generator, x: np.ndarray) -> np.ndarray | None:
    """A direction that no sample activates, at 0 to 1e-9 of a plane; None if none."""
    norms = np.linalg.norm(x, axis=1)
    x = x[norms > 0] / norms[norms > 0][:, None]
    if len(x) == 0:
        return None
    some = x[rng.integers(len(x))]
    for w in rng.standard_normal((_TRIES, x.shape[1])):
        w = w - (w @ some) * some
        size = np.linalg.norm(w)
        if size > 1e-6 and np.all(x @ w <= 1e-12 * size):
            distance = rng.choice([0.0, *10.0 ** np.arange(-17, -8.0)])
            return w / size - distance * some
    return None


@eqx.filter_jit
def _followed(networks, data, *, rtol):
    """Per case: the weights at the end that is claimed, and at t = `LAST`."""
    loss = losses.half_mse
    flow = ReluFlow(rtol=rtol, max_steps=MAX_STEPS)
    looks = jnp.asarray(LOOKS)

    def one(network, data):
        to = lambda state, until, data: jax.lax.while_loop(
            lambda s: (s.status == Status.RUNNING) & (s.time < until),
            lambda s: flow.step(s, data, loss, until),
            state,
        )

        def look(carry):
            state, k = carry
            state = to(state, looks[k], data)
            said = STOP.status(state.network, data, loss)
            status = jnp.where(state.status == Status.RUNNING, said, state.status)
            return eqx.tree_at(lambda s: s.status, state, status), k + 1

        goes = lambda c: (c[0].status == Status.RUNNING) & (c[1] < len(looks))
        start = flow.init(network, data, loss, jax.random.key(0))
        end, _ = jax.lax.while_loop(goes, look, (start, 0))
        is_claimed = (end.status == Status.STATIONARY) | (
            end.status == Status.CONVERGED
        )
        if end.network.w.dtype == jnp.float32:
            # Over such a time rounding alone moves a flow in single precision.
            wide = lambda tree: jax.tree.map(lambda v: v.astype(float), tree)
            data = wide(data)
            on = flow.init(wide(end.network), data, loss, jax.random.key(0))
        else:
            # As many steps again.
            stats = {k: jnp.zeros_like(v) for k, v in end.stats.items()}
            on = eqx.tree_at(lambda s: s.stats, end, stats)
        status = jnp.where(is_claimed, jnp.int32(Status.RUNNING), end.status)
        on = eqx.tree_at(lambda s: s.status, on, status)
        last = to(on, jnp.asarray(LAST), data)
        return rows(end.network), end.status, end.time, rows(last.network), last.time

    return eqx.filter_vmap(one)(networks, data)


def rows(network):
    """Rows (w, b, a)."""
    parts = [network.w, network.a]
    if network.b is not None:
        parts.insert(1, network.b[:, None])
    return jnp.concatenate(parts, axis=1)


def _row(case: Case, is_single: bool, ends: tuple, descent_time: float) -> dict:
    end, status, time, last, last_time = ends
    end, last = end.astype(float), last.astype(float)
    row = {
        "case": int(case.name),
        "status": Status(int(status)).name,
        "kinds": list(case.kinds),
        "slope": case.slope,
        "ended": float(f"{time:.4g}"),
        "dtype": "float32" if is_single else "float64",
    }
    if Status(int(status)) not in (Status.STATIONARY, Status.CONVERGED):
        return row
    e = case.problem.w.shape[1]
    here = dataclasses.replace(case.problem, w=end[:, :e], a=end[:, e:])
    descent, own = _descent(here, end, descent_time)
    flow, is_judged = _left(end, last), bool(own <= STOP.tolerance)
    holds = bool(max(flow, descent - own) <= STOP.tolerance)
    if not is_judged and flow <= STOP.tolerance:
        holds = None
    return row | {
        "flow": float(f"{flow:.3g}"),
        "descent": float(f"{descent:.3g}"),
        "own_error": float(f"{own:.3g}"),
        "time": float(last_time),
        "is_judged": is_judged,
        "holds": holds,
    }


def _descent(here: Problem, end: np.ndarray, time: float) -> tuple[float, float]:
    """How far Euler takes a neuron from its end, and its own error at that."""
    # A step must resolve the largest curvature, at most Σ (a² + |w|²) |x|².
    length = np.linalg.norm(here.x[here.weight > 0], axis=1)
    stiff = np.sum(end**2) * np.max(length, initial=0) ** 2
    steps = round(time / min(STEP, 0.05 / max(stiff, 1e-9)))
    runs = [run(here, time, k * steps) for k in (1, 2)]
    before = 2 * runs[1] - runs[0]
    for k in range(2, _HALVINGS + 1):
        runs = [runs[1], run(here, time, 2**k * steps)]
        ahead = 2 * runs[1] - runs[0]
        own = _left(end, end + ahead - before)
        if own <= STOP.tolerance / 10:
            break
        before = ahead
    return _left(end, ahead), own


def _left(end: np.ndarray, other: np.ndarray) -> float:
    """The largest distance of a neuron from its end, relative to its size there."""
    size = np.linalg.norm(end, axis=1)
    apart = np.linalg.norm(other - end, axis=1)
    relative = np.where(size > 0, apart / np.where(size > 0, size, 1), apart)
    return float(np.max(np.where(np.isfinite(relative), relative, np.inf)))


if __name__ == "__main__":
    main()
