"""Derivatives of a trained network in its data and in its start, through all events."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.core import Dataset, EventKind, Loss, Status
from simbias.errors import BadInput
from simbias.flows import ReluFlow
from simbias.networks import TwoLayer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.numerics.integrated import integrated
from simbias.validation.values import positive, positive_integer

# Speed towards a boundary over the largest possible, below which a neuron grazes it.
_GRAZES = 1e-6
# Growth of a perturbation beyond which its digits are those of rounding.
_LOST = 1e9
# A pre-activation on the wrong side by more than this share shows a missed event.
_WRONG = 1e-5
_NEWTON = 6
# A release is looked for within this share of its time.
_NEAR = 0.05

Finding = Literal["finished", "grazing", "saddle", "missed event", "not reached"]


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """End of a trajectory and its derivatives.

    Attributes:
        network: at the end.
        tangent: derivatives of its weights, a network with a leading axis
            `perturbation`; NaN unless `finding` is "finished".
        finding: "finished"; "grazing": a neuron touches an activation boundary with
            speed 0, where there is no derivative; "saddle": perturbations grow by more
            than 1e9, so that rounding is all that is left; "missed event": the
            trajectory cannot be followed again; "not reached": the flow failed.
        events: number of crossings, slides and releases.
        growth: largest norm of a perturbation of the start over its first norm; 1 if
            only the data are perturbed.  So only a perturbation of the start finds a
            saddle.
    """

    network: TwoLayer
    tangent: TwoLayer
    finding: Finding
    events: int
    growth: float


class _Weights(NamedTuple):
    w: Float[Array, "... m e"]
    a: Float[Array, "... m k"]


class _Sample(NamedTuple):
    x: Float[Array, "... n e"]
    y: Float[Array, "... n k"]
    weight: Float[Array, "... n"]


@dataclasses.dataclass(frozen=True)
class _Problem:
    """What a program is compiled for."""

    loss: Loss
    moves_w: bool
    moves_a: bool


class _Pattern(NamedTuple):
    """Slope of every neuron on every sample, and the samples on which it slides."""

    gate: Float[Array, "m n"]
    pins: Int[Array, "m s"]  # −1 for none


def derivative(
    network: TwoLayer,
    data: Dataset,
    loss: Loss,
    time: float,
    *,
    start: TwoLayer | None = None,
    x: Float[Array, "q n d"] | None = None,
    y: Float[Array, "q n k"] | None = None,
    weight: Float[Array, "q n"] | None = None,
    rtol: float = 1e-9,
    events: int = 20_000,
) -> Sensitivity:
    """dθ(t)/dε under the exact flow, for perturbations of the start and of the sample.

    Perturbation i replaces the start θ₀ by θ₀ + ε startᵢ and the sample by x + ε xᵢ,
    y + ε yᵢ, weight + ε weightᵢ; what is not given stays.  Examples: `y` of the noise
    for dθ/dσ; `weight` with −1 at sample i for leaving it out, to first order; `start`
    the initial weights for λ dθ/dλ.

    Between events the tangent obeys V' = ∂F/∂θ V + ∂F/∂ε with a fixed pattern.  At a
    crossing, and where sliding begins, it jumps by the saltation matrix,

        V⁺ = V⁻ + (F⁺ − F⁻) dh/(∇h·F⁻),   dh = ∇h·V⁻ + ∂h/∂ε,

    h = wⱼ·xᵢ.  While a neuron slides, F is the projected field.  At a release F is
    continuous and V too.  The trajectory is computed by `ReluFlow` with a record of its
    events, and then followed again together with V by a method of order 8; the times of
    the events are corrected by Newton's method.

    Known fault: on two of eight random networks, with 32 events each, it differs from
    the difference of two runs by 1 % and 9 % although `finding` is "finished"
    (benchmarks/results/derivatives.json).  Compare with two runs before you use it.

    Args:
        network: two layers, ReLU or leaky ReLU, in float64.
        data: its sample.
        loss: smooth in the output.
        time: end of the trajectory.
        start: perturbations of the weights, a network with a leading axis.
        x: of the inputs, with a leading axis.
        y: of the targets.
        weight: of the weights of the samples.
        rtol: relative tolerance of both passes.
        events: room for so many events.

    Raises:
        ValueError: if nothing is perturbed, the leading axes differ, a weight lies on
            an activation boundary at the start, or `events` is too small.

    Reference: saltation matrices, Aizerman & Gantmakher (1958); Leine & Nijmeijer
    (2004), Dynamics and Bifurcations of Non-Smooth Mechanical Systems, section 7.
    """
    positive("time", time)
    positive("rtol", rtol)
    positive_integer("events", events)
    with exact_numerics():
        weights, sample = _weights(network), _sample(network, data)
        tangent, along = _tangents(network, data, start, x, y, weight)
        slope = network.negative_slope
        if slope is None:
            raise BadInput(
                "`network` must be of ReLU or leaky ReLU: other networks have no "
                f"events, got the activation {network.activation}."
            )
        if bool(jnp.any((weights.w @ sample.x.T == 0) & (sample.weight > 0)[None, :])):
            raise BadInput(
                "`network` must not start on an activation boundary, w·x = 0: there "
                "the flow has no derivative in the start."
            )
        log, status = _events(network, data, loss, time, rtol, events)
        path = _Path(network, loss, sample, along, slope, rtol, log)
        return path.followed(weights, tangent, time, status)


class _Path:
    """A trajectory with its tangents, from event to event."""

    def __init__(
        self,
        network: TwoLayer,
        loss: Loss,
        sample: _Sample,
        along: _Sample,
        slope: float,
        rtol: float,
        log: np.ndarray,
    ):
        self._network, self._sample, self._along = network, sample, along
        self._slope, self._log = slope, log
        frozen = network.frozen
        self._problem = _Problem(loss, "w" not in frozen, "a" not in frozen)
        m, n = network.w.shape[0], sample.x.shape[0]
        self._pins: list[list[int]] = [[] for _ in range(m)]
        self._room = _most_pins(log, m)
        self._gate = np.ones((m, n))
        atol = rtol / 1000 * float(jnp.median(jnp.abs(network.w)))
        self._tolerances = jnp.asarray([rtol / 10, atol])

    def _field(self, weights: _Weights, pattern: _Pattern) -> _Weights:
        return _field(self._problem, weights, self._sample, pattern)

    def followed(
        self, weights: _Weights, tangent: _Weights, time: float, status: int
    ) -> Sensitivity:
        """The end."""
        h = np.asarray(weights.w @ self._sample.x.T)
        self._gate = np.where(h > 0, 1.0, self._slope)
        state, now = (weights, tangent), 0.0
        first = _size(tangent)
        finding: Finding = "finished"
        if Status(status).is_failure:
            finding = "not reached"
        for group in _groups(self._log):
            if finding != "finished":
                break
            state, now, finding = self._through(state, now, group)
        if finding == "finished":
            state = self._to(state, now, time)
            finding = self._checked(state)
        size = _size(state[1])
        growth = float(jnp.max(jnp.where(first > 0, size / first, 1.0)))
        if finding == "finished" and not growth < _LOST:
            finding = "saddle"
        tangent = state[1]
        if finding != "finished":
            tangent = jax.tree.map(lambda v: jnp.full_like(v, jnp.nan), tangent)
        return Sensitivity(
            _network(self._network, state[0]),
            _network(self._network, tangent),
            finding,
            len(self._log),
            growth,
        )

    def _pattern(self) -> _Pattern:
        pins = np.full((len(self._pins), self._room), -1)
        gate = self._gate.copy()
        for j, row in enumerate(self._pins):
            pins[j, : len(row)] = row
            gate[j, row] = 0.0
        return _Pattern(jnp.asarray(gate), jnp.asarray(pins))

    def _to(self, state: tuple, begin: float, end: float) -> tuple:
        if begin == end:
            return state
        ends = jnp.asarray([begin, end])
        both = self._sample, self._along
        return _advanced(
            self._problem, state, both, self._pattern(), ends, self._tolerances
        )

    def _through(
        self, state: tuple, now: float, group: np.ndarray
    ) -> tuple[tuple, float, Finding]:
        """Across the events of one time: what meets a boundary, then what is let go."""
        when, j, i, kind = group[0]
        j, i = int(j), int(i)
        state, now = self._to(state, now, float(when)), float(when)
        meets = kind in (
            EventKind.CROSSES_UP,
            EventKind.CROSSES_DOWN,
            EventKind.SLIDES,
        )
        before, x = self._pattern(), self._sample.x[i]
        if not meets:
            state, now = self._at_release(state, now, j, i, int(kind))
            self._change(group)
            return state, now, "finished"
        speed = 0.0
        for _ in range(_NEWTON):
            velocity = self._field(state[0], before)
            speed = float(velocity.w[j] @ x)
            largest = float(jnp.linalg.norm(velocity.w[j]) * jnp.linalg.norm(x))
            if not abs(speed) > _GRAZES * largest:
                return state, now, "grazing"
            off = -float(state[0].w[j] @ x) / speed
            state, now = self._to(state, now, now + off), now + off
            if abs(off) <= 1e-14 * max(abs(now), 1e-300):
                break
        old = self._field(state[0], before)
        self._change(group)
        new = self._field(state[0], self._pattern())
        weights, tangent = state
        shift = tangent.w[:, j] @ x + self._along.x[:, i] @ weights.w[j]
        jumped = jax.tree.map(
            lambda v, one, two: v + (two - one)[None] * (shift / speed)[:, None, None],
            tangent,
            old,
            new,
        )
        return (weights, jumped), now, self._checked((weights, jumped))

    def _at_release(
        self, state: tuple, now: float, j: int, i: int, kind: int
    ) -> tuple[tuple, float]:
        """At the time at which the field of the free side no longer pushes back."""
        held, slides = self._pins[j], self._pattern()
        gate, pins = slides.gate, slides.pins
        free = [k for k in held if k != i]
        up = kind == EventKind.LEAVES_UP
        gate = gate.at[j, i].set(1.0 if up else self._slope)
        row = jnp.asarray(free + [-1] * (self._room - len(free)))
        let_go = _Pattern(gate, pins.at[j].set(row))
        push = lambda w: self._field(w, let_go).w[j] @ self._sample.x[i]
        first, best = (state, now), (state, now)
        for _ in range(_NEWTON):
            along = self._field(state[0], slides)
            value, change = jax.jvp(push, (state[0],), (along,))
            off = -float(value / change) if float(change) else np.inf
            if not abs(now + off - first[1]) < _NEAR * max(now, 1e-300):
                return first  # let go by something else, at once
            state, now = self._to(state, now, now + off), now + off
            best = state, now
            if abs(off) <= 1e-13 * now:
                break
        return best

    def _change(self, group: np.ndarray) -> None:
        for _, j, i, kind in group:
            j, i = int(j), int(i)
            if kind == EventKind.SLIDES:
                self._pins[j].append(i)
                continue
            if i in self._pins[j]:
                self._pins[j].remove(i)
            up = kind in (EventKind.CROSSES_UP, EventKind.LEAVES_UP)
            self._gate[j, i] = 1.0 if up else self._slope

    def _checked(self, state: tuple) -> Finding:
        w, x = state[0].w, self._sample.x
        h = np.asarray(w @ x.T)
        size = np.outer(jnp.linalg.norm(w, axis=1), jnp.linalg.norm(x, axis=1))
        side = np.where(self._gate == 1.0, 1.0, -1.0)
        wrong = (side * h < -_WRONG * size) & (np.asarray(self._sample.weight) > 0)
        for j, row in enumerate(self._pins):
            wrong[j, row] = np.abs(h[j, row]) > _WRONG * size[j, row]
        return "missed event" if bool(np.any(wrong)) else "finished"


@eqx.filter_jit
def _field(
    problem: _Problem, weights: _Weights, sample: _Sample, pattern: _Pattern
) -> _Weights:
    """Velocity of the weights with a fixed pattern."""

    def value(weights: _Weights) -> Float[Array, ""]:
        hidden = pattern.gate * (weights.w @ sample.x.T)
        return problem.loss(hidden.T @ weights.a, sample.y, sample.weight)

    gradient = jax.grad(value)(weights)
    w = _projected(-gradient.w, sample.x, pattern.pins)
    zero = jnp.zeros_like
    a = -gradient.a if problem.moves_a else zero(gradient.a)
    return _Weights(w if problem.moves_w else zero(w), a)


@eqx.filter_jit
def _advanced(
    problem: _Problem,
    state: tuple[_Weights, _Weights],
    samples: tuple[_Sample, _Sample],
    pattern: _Pattern,
    ends: Float[Array, "2"],
    tolerances: Float[Array, "2"],
) -> tuple[_Weights, _Weights]:
    """Weights and tangents at the end of a time without events."""
    sample, along = samples

    def both(state: tuple[_Weights, _Weights]) -> tuple[_Weights, _Weights]:
        weights, tangent = state
        field = lambda w, z: _field(problem, w, z, pattern)
        one = lambda t, s: jax.jvp(field, (weights, sample), (t, s))[1]
        return field(weights, sample), jax.vmap(one)(tangent, along)

    found = integrated(both, state, ends, tolerances[0], tolerances[1])
    return jax.tree.map(lambda v: v[-1], found)


def _projected(
    w: Float[Array, "m e"], x: Float[Array, "n e"], pins: Int[Array, "m s"]
) -> Float[Array, "m e"]:
    """Without the directions of the samples on which a neuron slides."""

    def one(row: Float[Array, " e"], pinned: Int[Array, " s"]) -> Float[Array, " e"]:
        basis = []
        for place in range(pinned.shape[0]):
            v = x[pinned[place]]
            length = v @ v
            for u in basis:
                v = v - (v @ u) * u
            is_new = (pinned[place] >= 0) & (v @ v > 1e-20 * length)
            safe = jnp.where(is_new, v, 1.0)
            basis.append(jnp.where(is_new, safe / jnp.linalg.norm(safe), 0.0))
        for u in basis:
            row = row - (row @ u) * u
        return row

    return jax.vmap(one)(w, pins)


def _events(
    network: TwoLayer, data: Dataset, loss: Loss, time: float, rtol: float, room: int
) -> tuple[np.ndarray, int]:
    """Rows (time, neuron, sample, kind), in order, and the status of the flow."""
    flow = ReluFlow(rtol=rtol, events=room)
    state = flow.init(network, data, loss, jax.random.key(0))
    state = _run(flow, state, data, loss, jnp.asarray(time, state.time.dtype))
    if int(state.stats["events"]) > room:
        raise BadInput(
            f"`events` must be at least {int(state.stats['events'])}, the number of "
            f"events up to t = {time:g}, got {room}."
        )
    history = flow.history(state)
    rows = np.stack(
        [
            np.asarray(history[f"event_{k}"])
            for k in ("time", "neuron", "sample", "kind")
        ],
        axis=1,
    )
    rows = rows[np.isfinite(rows[:, 0])]
    return rows[np.argsort(rows[:, 0], kind="stable")], int(state.status)


@eqx.filter_jit
def _run(
    flow: ReluFlow, state: Any, data: Dataset, loss: Loss, until: Float[Array, ""]
) -> Any:
    arrays, static = eqx.partition(state, eqx.is_array)
    whole = lambda arrays: eqx.combine(arrays, static)
    goes = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    step = lambda s: eqx.filter(flow.step(whole(s), data, loss, until), eqx.is_array)
    return whole(jax.lax.while_loop(lambda s: goes(whole(s)), step, arrays))


def _groups(log: np.ndarray) -> Sequence[np.ndarray]:
    """Events that are one: a neuron meets a boundary, and is let go from others."""
    groups: list[list[np.ndarray]] = []
    for row in log:
        is_release = row[3] in (EventKind.LEAVES_UP, EventKind.LEAVES_DOWN)
        last = groups[-1][0] if groups else None
        same = last is not None and last[0] == row[0] and last[1] == row[1]
        if same and is_release:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [np.stack(group) for group in groups]


def _most_pins(log: np.ndarray, m: int) -> int:
    """The most samples on which a neuron slides at a time."""
    now, most = [0] * m, 1
    for _, j, _, kind in log:
        if kind == EventKind.SLIDES:
            now[int(j)] += 1
        elif kind in (EventKind.LEAVES_UP, EventKind.LEAVES_DOWN):
            now[int(j)] -= 1
        most = max(most, *now)
    return most


def _weights(network: Any) -> _Weights:
    """With a bias as a last coordinate."""
    w = network.w
    if network.b is not None:
        w = jnp.concatenate([w, network.b[..., None]], axis=-1)
    return _Weights(w, network.a)


def _sample(network: TwoLayer, data: Any) -> _Sample:
    x = data.x
    if network.b is not None:
        x = jnp.concatenate([x, jnp.ones_like(x[..., :1])], axis=-1)
    return _Sample(x, data.y, data.weight)


def _network(network: TwoLayer, weights: _Weights) -> TwoLayer:
    d = network.w.shape[1]
    b = None if network.b is None else weights.w[..., d]
    where = lambda net: (net.w, net.a, net.b)
    new = (weights.w[..., :d], weights.a, b)
    return eqx.tree_at(where, network, new, is_leaf=lambda leaf: leaf is None)


def _tangents(
    network: TwoLayer,
    data: Dataset,
    start: TwoLayer | None,
    x: Array | None,
    y: Array | None,
    weight: Array | None,
) -> tuple[_Weights, _Sample]:
    given = {"x": x, "y": y, "weight": weight}
    known = {name: one for name, one in given.items() if one is not None}
    counts = {len(one) for one in known.values()}
    counts |= set() if start is None else {len(start.w)}
    if len(counts) != 1:
        raise BadInput(
            "one of `start`, `x`, `y` and `weight` must be given, and all with the "
            "same leading axis, one row per perturbation. Example: y=noise[None]."
        )
    (q,) = counts
    for name, one in known.items():
        shape = (q, *getattr(data, name).shape)
        if one.shape != shape:
            raise BadInput(
                f"`{name}` must have shape {shape}, a perturbation of data.{name} in "
                f"each row, got {one.shape}."
            )
    zero = lambda v: jnp.zeros((q, *v.shape), v.dtype)
    base = _weights(network)
    tangent = _weights(start) if start is not None else _Weights(*map(zero, base))
    dx, dy, dweight = (known.get(k, zero(getattr(data, k))) for k in given)
    if network.b is not None:
        dx = jnp.concatenate([dx, jnp.zeros_like(dx[..., :1])], axis=-1)
    return tangent, _Sample(dx, dy, dweight)


def _size(tangent: _Weights) -> Float[Array, " q"]:
    squares = [jnp.sum(v**2, axis=(1, 2)) for v in tangent]
    return jnp.sqrt(squares[0] + squares[1])
