"""The exact flow on cases, many at a time, and what the oracle says of its ends."""

import collections
import dataclasses
from collections.abc import Iterator, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from _cases import Case
from _euler import Reference, distance, perturbed_ends

from simbias import losses
from simbias.core import Dataset, Status
from simbias.flows.relu_flow import ReluFlow
from simbias.networks.activations import LeakyRelu
from simbias.networks.two_layer import TwoLayer

# An error beyond this many tolerances, and this many of the oracle's own, is wrong.
TOLERANCES, OWN_ERRORS = 1000, 20
# An oracle that knows less than this can judge nothing.
LEAST_KNOWN = 1e-2
MAX_STEPS = 20_000
VERDICTS = ("right", "failed", "silent", "chosen", "not well posed", "not judged")


@dataclasses.dataclass(frozen=True)
class End:
    """Where the flow ended: rows (w, b, a)."""

    weights: np.ndarray
    status: Status
    time: float
    stats: dict[str, int]


def network(case: Case) -> TwoLayer:
    """The start of a case."""
    activation = LeakyRelu(case.slope) if case.slope else jax.nn.relu
    b = None if case.b is None else jnp.asarray(case.b)
    return TwoLayer(jnp.asarray(case.w), jnp.asarray(case.a), b, activation)


def sample(case: Case) -> Dataset:
    """Its sample."""
    x, y, weight = map(jnp.asarray, (case.x, case.y, case.weight))
    return Dataset(x, y, weight, y, jnp.zeros((0, x.shape[1])))


def flow_ends(cases: Sequence[Case], lanes: int = 16) -> Iterator[tuple[Case, End]]:
    """The ends of all, `lanes` cases of one program at a time, in any order."""
    alike = collections.defaultdict(list)
    for case in cases:
        shape = (case.x.shape, case.y.shape, case.w.shape, case.b is None)
        alike[shape, case.loss, case.slope].append(case)
    for group in alike.values():
        # A batch takes as long as its longest case.
        group.sort(key=lambda case: case.time)
        for i in range(0, len(group), lanes):
            some = group[i : i + lanes]
            yield from zip(some, _ends(some, lanes), strict=True)
        # No other group has these programs, and a process holds only so many.
        jax.clear_caches()


def _ends(cases: Sequence[Case], lanes: int) -> list[End]:
    filled = [*cases, *[cases[-1]] * (lanes - len(cases))]
    stack = lambda trees: jax.tree.map(lambda *v: jnp.stack(v), *trees)
    state = _run(
        stack([network(case) for case in filled]),
        stack([sample(case) for case in filled]),
        jnp.asarray([case.rtol for case in filled]),
        jnp.asarray([case.time for case in filled]),
        getattr(losses, cases[0].loss),
    )
    net, state = jax.device_get((state.network, state))
    parts = [net.w, net.a] if net.b is None else [net.w, net.b[:, :, None], net.a]
    weights = np.concatenate(parts, axis=2)
    return [
        End(
            weights[i],
            Status(int(state.status[i])),
            float(state.time[i]),
            {name: int(v[i]) for name, v in state.stats.items()},
        )
        for i in range(len(cases))
    ]


@eqx.filter_jit
def _run(networks, data, rtol, until, loss):
    def one(network, data, rtol, until):
        flow = ReluFlow(rtol=rtol, max_steps=MAX_STEPS)
        start = flow.init(network, data, loss, jax.random.key(0))
        state = jax.lax.while_loop(
            lambda s: (s.status == Status.RUNNING) & (s.time < until),
            lambda s: flow.step(s, data, loss, until),
            start,
        )
        # At the start Euler chooses likewise: only those on the way excuse anything.
        choices = state.stats["nonunique_events"] - start.stats["nonunique_events"]
        state = eqx.tree_at(lambda s: s.stats["nonunique_events"], state, choices)
        reached = state.status == Status.RUNNING
        status = jnp.where(reached, jnp.int32(Status.REACHED_TIME), state.status)
        return eqx.tree_at(lambda s: s.status, state, status)

    return eqx.filter_vmap(one)(networks, data, rtol, until)


def judged(case: Case, end: End, known: Reference) -> dict:
    """One row of the table: the verdict, and what it rests on.

    Whether there is one solution to find is asked only where the flow's is another.
    """
    error = distance(end.weights, known.end)
    allowed = np.maximum(TOLERANCES * case.rtol, OWN_ERRORS * known.error)
    is_known = np.max(known.error) <= LEAST_KNOWN
    agrees, spread, nearest = bool(np.all(error <= allowed)), None, None
    if not agrees:
        base, others = perturbed_ends(case.problem, case.time, known.steps)
        apart = np.max([distance(other, base) for other in others], axis=0)
        is_well_posed = np.all(apart <= allowed)
        spread = _short(np.max(apart))
        nearest = _short(min(np.max(distance(end.weights, v)) for v in others))
    if end.status.is_failure:
        verdict = "failed"
    elif not is_known:
        verdict = "not judged"
    elif agrees:
        verdict = "right"
    elif not is_well_posed:
        verdict = "not well posed"
    else:
        verdict = "chosen" if end.stats["nonunique_events"] else "silent"
    problem = case.problem
    start = loss_of(case, np.concatenate([problem.w, problem.a], axis=1))
    loss, known_loss = loss_of(case, end.weights), loss_of(case, known.end)
    return {
        "case": case.name,
        "verdict": verdict,
        "status": end.status.name,
        "kinds": list(case.kinds),
        "n": int(np.sum(case.weight > 0)),
        "m": len(case.w),
        "d": case.x.shape[1],
        "k": case.y.shape[1],
        "loss": case.loss,
        "slope": case.slope,
        "time": case.time,
        "error": _short(np.max(error)),
        "own_error": _short(np.max(known.error)),
        "spread": spread,
        "nearest_end": nearest,
        "loss_error": _short(abs(loss - known_loss) / start),
        "steps_of_oracle": known.steps,
        **end.stats,
    }


def loss_of(case: Case, weights: np.ndarray) -> float:
    """L at rows (w, b, a), without JAX."""
    problem, is_kept = case.problem, case.weight > 0
    e = problem.w.shape[1]
    h = problem.x[is_kept] @ weights[:, :e].T
    f, y = np.where(h > 0, h, case.slope * h) @ weights[:, e:], problem.y[is_kept]
    with np.errstate(over="ignore"):
        if case.loss == "half_mse":
            each = (f - y) ** 2 / 2
        elif case.loss == "logistic":
            each = np.logaddexp(0, -y * f)
        else:
            each = np.exp(-y * f)
    weight = case.weight[is_kept]
    return float(np.sum(each * weight[:, None]) / np.sum(weight))


def _short(value: float) -> float | None:
    """Three digits; None if it is no number, which JSON has no word for."""
    return float(f"{value:.3g}") if np.isfinite(value) else None
