"""Exact gradient flow of two-layer ReLU and leaky ReLU networks."""

import dataclasses
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from simbias.checks.values import positive, positive_integer
from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status
from simbias.errors import BadInput
from simbias.flows._relu.by_leaders import by_leaders
from simbias.flows._relu.decoupled import decoupled_length, may_be_decoupled
from simbias.flows._relu.event_step import Attempt, attempt_step
from simbias.flows._relu.events import PLACES, Log, no_log
from simbias.flows._relu.frozen import Sample, extended_sample
from simbias.flows._relu.leg import Method
from simbias.flows._relu.planes import Planes
from simbias.flows._relu.position import (
    Position,
    choices_at_start,
    first_length,
    first_position,
)
from simbias.flows._relu.rows import rows_at_once
from simbias.flows._relu.smooth_step import Stiffness, unknown_stiffness
from simbias.flows._relu.step_control import controlled, first_controller
from simbias.flows._relu.weights import weights, with_weights
from simbias.flows._shared.objective import (
    CLIP,
    choose,
    clock,
    is_finite,
    least_step,
    where_status,
)
from simbias.flows._shared.turn import counted, first_counts, turn_of
from simbias.introspection.wrapped import unwrapped
from simbias.losses import hinge, whole
from simbias.numerics.conditionals import when

# Steps of neurons that do not feel each other are taken if they are so much longer, and
# are so much shorter after one that was not kept.
_WORTH, _DISTRUST = 2, 0.25
# Neurons × samples from which they are worth what they take to compile.
_PAYS = 2**16
# Events of a share of the neurons are followed at a time, or of so many.
_PARTS, _FEWEST = 16, 16
# A tolerance below this many roundings would take their noise for events.
_LEAST_RTOL = 1000


class ReluFlow(AbstractFlow):
    """θ' ∈ −∂L(θ), the gradient flow in the sense of Filippov, sliding included.

    The field jumps where a neuron meets a data hyperplane, w·x = 0.  During a step the
    activation pattern is frozen, so that the Runge–Kutta method sees a smooth field;
    neurons that met a hyperplane then follow their own events: they cross it or, when
    both sides push them back, slide along it (are pinned) until the subgradient of
    least norm lets them go.  Output weights that are `frozen` are held fixed.

    A step is accepted if the root mean square over neurons of the error relative to
    |(w, a)| is below `rtol`, each neuron counted by how far it moves: the method's own
    estimate, third order terms of the events and of neurons that are let go, second
    order terms of what events do to all other neurons.  The error follows `rtol` down
    to 1e-9, and evaluations grow by about 2 per factor 10.  A tolerance below 1000
    roundings is raised to that: 1.2e-4 in float32, 2.2e-13 in float64.  Of wide
    networks, neurons on the same sides and pins whose w and a differ by less than
    `rtol` / 10 but for their size move as one from then on.

    `stats`: `evaluations` of the field (Tsit5: 7 per attempt), `accepted`, `rejected`,
    `crossings`, `pins`, `releases`, and `choices`: how often the flow had more than one
    way to go on (see docs/exact_flow.md, *Where the flow is not unique*).

    Args:
        rtol: relative tolerance.
        solver: explicit Runge–Kutta method of diffrax with an error estimate.
        dt0: first step; None takes one in which weights move by about 1 %.
        max_steps: a member that needs more attempts ends as MAX_STEPS.
        max_pins: hyperplanes one neuron can slide on at once; None is as many as there
            can be, up to 32.  A member that needs more ends as CAPACITY.
        rows: neurons whose events are followed at a time; changes speed only.
        stabilise: steps that stability bounds are left to Runge–Kutta–Chebyshev,
            whose number of evaluations grows with the root of their length.
        decouple: while f is so small that the residuals stand still, each neuron is
            followed by itself, exactly, over all planes that it meets, in few steps
            however long that takes: time and cost do not depend on how small the start
            is.  For one output that is trained, |a| ≥ |w| and no `events`.  None takes
            such steps where m × n ≥ 65,536; a program with them takes about a third
            longer to compile.
        events: room for so many events, written down with their times: the result has
            `event_time`, `event_neuron`, `event_sample` (the first one on the
            hyperplane) and `event_kind` (1 the neuron becomes active there, 2 inactive,
            3 it begins to slide, 4 it leaves to the active, 5 to the inactive side),
            and `stats` counts all `events`, also those that found no room.

    Reference: Filippov (1988), Differential equations with discontinuous righthand
    sides; Dieci & Lopez (2012), J. Comput. Appl. Math. 236.
    """

    least_rows: ClassVar[int] = 64

    rtol: Real = 1e-5
    solver: diffrax.AbstractERK = eqx.field(
        static=True, default=diffrax.Tsit5(scan_kind="lax")
    )
    dt0: Real | None = None
    max_steps: int = eqx.field(static=True, default=1_000_000)
    max_pins: int | None = eqx.field(static=True, default=None)
    rows: int | None = eqx.field(static=True, default=None)
    stabilise: bool = eqx.field(static=True, default=True)
    decouple: bool | None = eqx.field(static=True, default=None)
    events: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        positive("rtol", self.rtol)
        if self.dt0 is not None:
            positive("dt0", self.dt0)
        if not isinstance(self.stabilise, bool):
            raise BadInput(
                f"`stabilise` must be True or False, got {self.stabilise!r}."
            )
        if not (self.decouple is None or isinstance(self.decouple, bool)):
            raise BadInput(
                f"`decouple` must be True, False or None, got {self.decouple!r}."
            )
        for name in ("max_steps", "max_pins", "rows"):
            if getattr(self, name) is not None:
                positive_integer(name, getattr(self, name))
        if self.events != 0:
            positive_integer("events", self.events)
            if self.decouple:
                raise BadInput(
                    "`decouple`: steps of neurons by themselves write down no events. "
                    "Leave out one of `decouple` and `events`."
                )
        if not isinstance(self.solver, diffrax.AbstractERK):
            raise BadInput(
                "`solver` must be an explicit Runge–Kutta method of diffrax with an "
                f"error estimate, got {type(self.solver).__name__}. "
                "Example: solver=diffrax.Tsit5()."
            )

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:  # noqa: ARG002
        """Numbers that an attempt holds: 4⅜ per n × m, and four per one of the pins."""
        m, e = network.w.shape[0], network.w.shape[1] + (network.b is not None)
        pins = min(n, e, 32 if self.max_pins is None else self.max_pins)
        noted = 4 * (m * PLACES + self.events) if self.events else 0
        return 35 * n * width // 8 + 4 * m * pins * (e + 4) + noted

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """Time, neuron, sample and kind of events; NaN in places that are left."""
        log = state.memory.log
        if log is None:
            return {}
        is_one = jnp.arange(self.events, dtype=jnp.int32) < log.size
        written = lambda v: jnp.where(is_one, v.astype(log.time.dtype), jnp.nan)
        parts = {"time": log.time, "neuron": log.neuron}
        parts |= {"sample": log.plane, "kind": log.kind}
        return {f"event_{name}": written(v) for name, v in parts.items()}

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0; NONFINITE unless the weights and the field are finite.

        Raises:
            ValueError: if the network is not a two-layer ReLU or leaky ReLU network, or
            the loss has kinks of its own.
        """
        del key
        if whole(loss) is hinge:
            raise BadInput(
                "`loss`: ReluFlow follows the kinks of the network, not those of the "
                "hinge loss. Use logistic, exponential, half_mse or mse."
            )
        slope = _slope(network)
        w, a = weights(network)
        sample = _sample(network, data, loss)
        position = first_position(w, a, sample, slope, self._capacity(sample))
        is_sane = is_finite((w, a, position.rates, data.weight))
        status = where_status(~is_sane, Status.NONFINITE, jnp.int32(Status.RUNNING))
        length = first_length(position) if self.dt0 is None else self.dt0
        choices = choices_at_start(position, sample, slope)
        stats = _first_stats(choices=choices)
        if self.events:
            stats["events"] = jnp.int32(0)
        memory = ReluMemory(
            planes=sample.planes,
            length=jnp.asarray(length, clock()),
            position=position,
            controller=first_controller(w.dtype),
            has_overflowed=jnp.array(False),
            stiffness=unknown_stiffness(w, a) if self.stabilise else None,
            trust=jnp.ones((), w.dtype) if self._may_be_alone(len(w), sample) else None,
            log=no_log(self.events, clock()) if self.events else None,
        )
        return FlowState(network, jnp.zeros((), clock()), status, stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt, or some of the leaders of all; `until` must be finite."""
        sample = _sample(state.network, data, loss, state.memory.planes)
        rtol, until = self._rtol(state.network.w.dtype), until.astype(state.time.dtype)
        here = sample, until, rtol
        if state.memory.position.classes is None or self.events:
            return self._attempted(state, *here)[0]
        goes = (state.status == Status.RUNNING) & (state.time < until)
        is_alone = _alone(state.memory, sample, rtol)[1]
        led = by_leaders(self._attempted, state, here, goes & ~is_alone)
        by_all = lambda here, state: self._attempted(state, *here)[0]
        is_left = (led.status == Status.RUNNING) & (led.time == state.time)
        return when(by_all)(goes & is_left, here, led)

    def _attempted(
        self,
        state: FlowState,
        sample: Sample,
        until: Float[Array, ""],
        rtol: Float[Array, ""],
    ) -> tuple[FlowState, Bool[Array, ""]]:
        """After one attempt; whether it was given up since leaders do not do."""
        memory, time, network = state.memory, state.time, state.network
        dtype = network.w.dtype
        rounding = jnp.finfo(until.dtype).eps * until
        wish, is_alone = _alone(memory, sample, rtol)
        is_clipped = time + wish > until - CLIP * rounding
        tnext = jnp.where(is_clipped, until, time + wish)
        length = (tnext - time).astype(dtype)
        rows, (m, n) = self.rows, memory.position.is_above.shape
        if rows is None:
            rows = rows_at_once(max(m // _PARTS, _FEWEST), n)
        method = Method(self.solver, rtol, _slope(network), rows, self.events > 0)
        new = attempt_step(
            memory.position,
            sample,
            length,
            method,
            memory.stiffness,
            None if memory.trust is None else is_alone,
        )
        known = dataclasses.replace(new.position, clear=None, led=None)
        overflows = ~is_finite((known, new.error))
        error = jnp.where(overflows, jnp.inf, new.error)
        is_kept, proposal, controller = controlled(
            error, length, new.order, memory.controller
        )
        stiffness = new.stiffness
        if stiffness is not None and memory.stiffness is not None:
            # An attempt that overflowed says nothing of ρ.
            is_known = is_finite(stiffness)
            stiffness = choose(is_known, stiffness, memory.stiffness)
            is_astray = memory.stiffness.is_stiff & ~is_kept
            stiffness = choose(
                is_astray, stiffness.rejected(memory.stiffness), stiffness
            )
            proposal = jnp.minimum(proposal, stiffness.longest())
            # Errors of one method say nothing of the other's.
            stays = stiffness.is_stiff == memory.stiffness.is_stiff
            controller = choose(stays, controller, first_controller(error.dtype))
        proposal = proposal.astype(time.dtype)
        longer = jnp.maximum(proposal, memory.length)
        proposal = jnp.where(is_clipped & is_kept, longer, proposal)
        trust = memory.trust
        if trust is not None:
            # Such steps say nothing of how long one of the others may be.
            controller = choose(is_alone, memory.controller, controller)
            proposal = jnp.where(is_alone, memory.length, proposal)
            trust = jnp.where(is_alone & ~is_kept, _DISTRUST * trust, trust)

        attempts = state.stats["accepted"] + state.stats["rejected"]
        turn = turn_of(state, until > time, attempts, self.max_steps)
        is_too_small = wish < least_step(time, until)
        tries = turn.goes & ~is_too_small
        strays = jnp.array(False) if new.strays is None else tries & new.strays
        moves = tries & is_kept & ~strays
        small = where_status(
            memory.has_overflowed, Status.NONFINITE, jnp.int32(Status.STEP_TOO_SMALL)
        )
        status = jnp.where(turn.goes & is_too_small, small, turn.status)
        status = where_status(moves & new.is_full, Status.CAPACITY, status)
        position = choose(moves, new.position, memory.position)
        network = with_weights(network, position.w, position.a)
        log = memory.log
        if log is not None and new.events is not None:
            step = (time, (tnext - time).astype(time.dtype))
            log = choose(moves, log.extended(new.events, *step), log)
        memory = choose(
            tries & ~strays,
            ReluMemory(
                memory.planes,
                proposal,
                position,
                controller,
                overflows,
                stiffness,
                trust,
                log,
            ),
            memory,
        )
        end = FlowState(
            network,
            jnp.where(moves, tnext, time),
            status,
            _counted(state.stats, new, tries, moves),
            memory,
        )
        return end, strays

    def _rtol(self, dtype: jnp.dtype) -> Float[Array, ""]:
        least = _LEAST_RTOL * jnp.finfo(dtype).eps
        return jnp.maximum(jnp.asarray(self.rtol, dtype), least)

    def _may_be_alone(self, m: int, sample: Sample) -> bool:
        pays = m * sample.x.shape[0] >= _PAYS
        wanted = pays if self.decouple is None else self.decouple
        return wanted and may_be_decoupled(sample) and not self.events

    def _capacity(self, sample: Sample) -> int:
        n, e = sample.x.shape
        return min(n, e, 32 if self.max_pins is None else self.max_pins)


class ReluMemory(eqx.Module):
    """What a step needs from those before it."""

    planes: Planes
    length: Float[Array, ""]
    position: Position
    controller: PyTree
    has_overflowed: Bool[Array, ""]
    stiffness: Stiffness | None
    trust: Float[Array, ""] | None
    log: Log | None


def _alone(
    memory: ReluMemory, sample: Sample, rtol: Float[Array, ""]
) -> tuple[Float[Array, ""], Bool[Array, ""]]:
    """Length of the next step, and whether it is one of every neuron by itself."""
    if memory.trust is None:
        return memory.length, jnp.array(False)
    alone = decoupled_length(memory.position, sample, rtol) * memory.trust
    alone = alone.astype(memory.length.dtype)
    is_alone = alone > _WORTH * memory.length
    return jnp.where(is_alone, alone, memory.length), is_alone


def _sample(
    network: Any, data: Dataset, loss: Loss, planes: Planes | None = None
) -> Sample:
    frozen = getattr(network, "frozen", ())
    if frozen not in ((), ("a",)):
        raise BadInput(
            f"`frozen`: ReluFlow can hold the output weights, ('a',), got {frozen}. "
            "Use descent (Descent)."
        )
    return extended_sample(
        data, loss, network.b is not None, planes, is_output_frozen=frozen == ("a",)
    )


def _slope(network: Any) -> float:
    slope = getattr(network, "negative_slope", None)
    if slope is None or slope >= 1:
        name = type(unwrapped(network)).__name__
        raise BadInput(
            "`flow`: relu_flow (ReluFlow) is for two-layer networks with relu or "
            f"leaky_relu activation, not for this {name}. Use descent (Descent) at two "
            "rates (simbias.analysis.rate_difference) or, without kinks, gradient_flow "
            "(GradientFlow); on the command line, --flow.name gradient_flow."
        )
    return slope


def _first_stats(**known: Int[Array, ""]) -> dict[str, Int[Array, ""]]:
    names = ("crossings", "pins", "releases")
    zero = {name: jnp.int32(0) for name in names}
    return first_counts(evaluations=1) | zero | known


def _counted(
    stats: dict[str, Int[Array, ""]],
    new: Attempt,
    tries: Bool[Array, ""],
    moves: Bool[Array, ""],
) -> dict[str, Int[Array, ""]]:
    plus = lambda condition, count: jnp.where(condition, count, 0).astype(jnp.int32)
    noted = {}
    if new.events is not None:
        noted = {"events": stats["events"] + plus(moves, jnp.sum(new.events.count))}
    return (
        noted
        | counted(stats, tries, moves, new.evaluations)
        | {
            "crossings": stats["crossings"] + plus(moves, new.crossings),
            "pins": stats["pins"] + plus(moves, new.pinned),
            "releases": stats["releases"] + plus(moves, new.released),
            "choices": stats["choices"] + plus(moves, new.choices),
        }
    )
