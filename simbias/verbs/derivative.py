"""Derivatives of a trained network in its data and in its start, through all events."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss, Status
from simbias.errors import BadInput
from simbias.flows import ReluFlow
from simbias.networks import TwoLayer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.validation.values import positive, positive_integer
from simbias.variational.events import Sides, read_events
from simbias.variational.fixed_pattern import Problem, Sample, Weights
from simbias.variational.path import End, Finding, Path, Place


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """End of a trajectory and its derivatives.

    Attributes:
        network: at the end; where the pass stopped if `finding` is not "finished".
        tangent: derivatives of its weights, a network with a leading axis
            `perturbation`; NaN unless `finding` is "finished".
        finding: "finished"; "grazing": a neuron touches an activation boundary with
            speed 0, where there is no derivative; "saddle": perturbations grow by more
            than 1e9, so that rounding is all that is left; "missed event": the
            trajectory cannot be followed again; "not reached": the flow failed.
        events: number of crossings, slides and releases.
        growth: of |V|/|θ|, from the start to the end: the largest of the perturbations
            of the start and of one in a random direction, which is always added.
    """

    network: TwoLayer
    tangent: TwoLayer
    finding: Finding
    events: int
    growth: float


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
    continuous and V too, unless the neuron meets another boundary there.  The
    trajectory is computed by `ReluFlow` with a record of its events, and then followed
    again together with V by a method of order 8.  Newton's method corrects the times of
    the events, and if need be their order.

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
        frozen = network.frozen
        problem = Problem(loss, "w" not in frozen, "a" not in frozen)
        sides = Sides(
            np.where(np.asarray(weights.w @ sample.x.T) > 0, 1.0, slope),
            [[] for _ in range(len(weights.w))],
            slope,
        )
        atol = rtol / 1000 * float(jnp.median(jnp.abs(network.w)))
        found = read_events(log)
        path = Path(problem, sample, along, sides, found, (rtol / 10, atol))
        end = End(Place(weights, tangent, 0.0), "not reached", 1.0)
        if not Status(status).is_failure:
            end = path.followed(weights, tangent, time)
    finding, tangent = end.finding, jax.tree.map(lambda v: v[:-1], end.place.tangent)
    if finding != "finished":
        tangent = jax.tree.map(lambda v: jnp.full_like(v, jnp.nan), tangent)
    return Sensitivity(
        _network(network, end.place.weights),
        _network(network, tangent),
        finding,
        len(log),
        end.growth,
    )


def _events(
    network: TwoLayer, data: Dataset, loss: Loss, time: float, rtol: float, room: int
) -> tuple[np.ndarray, int]:
    """Rows (time, neuron, sample, kind), in order, and the status of the flow."""
    flow = ReluFlow(rtol=rtol, events=room)
    state = _run(flow, network, data, loss, jnp.asarray(time, jnp.float64))
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
    flow: ReluFlow, network: Any, data: Dataset, loss: Loss, until: Float[Array, ""]
) -> Any:
    # Traced too: its operations one by one take longer to compile than all together.
    state = flow.init(network, data, loss, jax.random.key(0))
    arrays, static = eqx.partition(state, eqx.is_array)
    whole = lambda arrays: eqx.combine(arrays, static)
    goes = lambda s: (s.status == Status.RUNNING) & (s.time < until)
    step = lambda s: eqx.filter(flow.step(whole(s), data, loss, until), eqx.is_array)
    return whole(jax.lax.while_loop(lambda s: goes(whole(s)), step, arrays))


def _weights(network: Any) -> Weights:
    """With a bias as a last coordinate."""
    w = network.w
    if network.b is not None:
        w = jnp.concatenate([w, network.b[..., None]], axis=-1)
    return Weights(w, network.a)


def _sample(network: TwoLayer, data: Any) -> Sample:
    x = data.x
    if network.b is not None:
        x = jnp.concatenate([x, jnp.ones_like(x[..., :1])], axis=-1)
    return Sample(x, data.y, data.weight)


def _network(network: TwoLayer, weights: Weights) -> TwoLayer:
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
) -> tuple[Weights, Sample]:
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
    tangent = _weights(start) if start is not None else Weights(*map(zero, base))
    dx, dy, dweight = (known.get(k, zero(getattr(data, k))) for k in given)
    if network.b is not None:
        dx = jnp.concatenate([dx, jnp.zeros_like(dx[..., :1])], axis=-1)
    return _with_random(network, tangent), Sample(*map(_and_none, (dx, dy, dweight)))


def _with_random(network: TwoLayer, tangent: Weights) -> Weights:
    """And, last, one of the trained weights in a random direction."""

    def more(name: str, v: Float[Array, "q m _"]) -> Float[Array, "q+1 m _"]:
        key = jax.random.fold_in(jax.random.key(0), ord(name))
        one = jax.random.normal(key, v.shape[1:], v.dtype)
        one = jnp.zeros_like(one) if name in network.frozen else one
        return jnp.concatenate([v, one[None]])

    return Weights(more("w", tangent.w), more("a", tangent.a))


def _and_none(v: Array) -> Array:
    """And, last, a perturbation that is none."""
    return jnp.concatenate([v, jnp.zeros_like(v[:1])])
