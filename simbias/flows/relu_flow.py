"""Exact gradient flow of two-layer ReLU and leaky ReLU networks."""

import functools
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status
from simbias.errors import BadInput
from simbias.flows._relu.aggregated_steps import aggregated_steps
from simbias.flows._relu.controlled_step import controlled_step, first_stats
from simbias.flows._relu.events import MAX_EVENTS, no_log
from simbias.flows._relu.frozen_field import Sample, extended_sample
from simbias.flows._relu.integrate_step import Options
from simbias.flows._relu.memory import ReluMemory, next_length
from simbias.flows._relu.neuron_state import (
    first_length,
    first_neurons,
    nonunique_at_start,
)
from simbias.flows._relu.noninteracting.follow import may_be_noninteracting
from simbias.flows._relu.refusals import negative_slope, refuse_own_gradient
from simbias.flows._relu.smooth_step import unknown_stiffness
from simbias.flows._relu.step_control import first_controller
from simbias.flows._relu.weights import weights
from simbias.flows._shared.loss_kinks import refuse_kinks_of_loss
from simbias.flows._shared.objective import is_finite, where_status
from simbias.flows._shared.one_program import one_program
from simbias.flows._shared.step_clock import clock
from simbias.flows._shared.tolerances import relative_tolerance
from simbias.flows._shared.weight_decay import check_weight_decay, without_zero
from simbias.numerics.conditionals import when
from simbias.numerics.planes import Planes
from simbias.validation.values import positive, positive_integer

# Neurons × samples from which steps of neurons by themselves are worth what they take
# to compile: members take a half to two thirds of the time.
NONINTERACTING_PAYS = 15_000


class ReluFlow(AbstractFlow):
    """θ' ∈ −∂L(θ) − μθ, the gradient flow in the sense of Filippov, with sliding.

    μ is the `weight_decay`, 0 unless it is given.  It turns no neuron, so it moves no
    event by itself, and a sliding neuron stays on its hyperplanes under it.

    The field jumps where a neuron meets a data hyperplane, w·x = 0.  During a step the
    activation pattern is frozen, so that the Runge–Kutta method sees a smooth field;
    neurons that met a hyperplane then follow their own events: they cross it or, when
    both sides push them back, slide along it until the subgradient of
    least norm lets them go.  Output weights that are `frozen` are held fixed.

    A step is accepted if the root mean square over neurons of the error relative to
    |(w, a)| is below `rtol`, each neuron counted by how far it moves: the method's own
    estimate, third order terms of the events and of neurons that are let go, second
    order terms of what events do to all other neurons.  The error follows `rtol` down
    to 1e-9, and evaluations grow by about 2 per factor 10.  A tolerance below 1000
    roundings is raised to that: 1.2e-4 in float32, 2.2e-13 in float64.  In a wide
    network, neurons with the same pattern that slide on the same planes, and whose
    directions (w, a)/|(w, a)| differ by less than `rtol` / 10, are merged from then on.

    `stats`: `evaluations` of the field (Tsit5: 7 per attempt), `accepted`, `rejected`,
    `crossings`, `slides`, `releases`, and `nonunique_events`: how often the flow had
    more than one way to go on (see docs/exact_flow.md, *Where the flow is not unique*).
    Of the steps `accepted`, `noninteracting` are of every neuron by itself
    (`decouple`), `aggregated` of a few that stand for a whole wide network, and
    `by_class` of representatives of the classes of its neurons; every other step is of
    all neurons at once.

    Args:
        rtol: relative tolerance.
        solver: explicit Runge–Kutta method of diffrax with an error estimate.
        dt0: first step; None takes one in which weights move by about 1 %.
        max_steps: a member that needs more attempts ends as MAX_STEPS.
        max_sliding: hyperplanes one neuron can slide on at once; None is as many as
            there can be, up to 32.  A member that needs more ends as CAPACITY.
        rows: neurons whose events are followed at a time; changes speed only.
        stabilise: steps that stability bounds are left to Runge–Kutta–Chebyshev,
            whose number of evaluations grows with the root of their length.
        decouple: while f is so small that the residuals stand still, each neuron is
            followed by itself, exactly, over all planes that it meets, in few steps
            however long that takes: time and cost do not depend on how small the start
            is.  For one output that is trained and no `events`, while |a| ≥ |w|.  None
            takes such steps where m × n ≥ 15,000, n as it is padded; a program with
            them takes about a third longer to compile.
        events: room for so many events, written down with their times: the result has
            `event_time`, `event_neuron`, `event_sample` (the first one on the
            hyperplane) and `event_kind` (1 the neuron becomes active there, 2 inactive,
            3 it begins to slide, 4 it leaves to the active, 5 to the inactive side),
            and `stats` counts all `events`, also those that found no room.
        weight_decay: μ ≥ 0, the flow of L + (μ/2)‖θ‖² over all trained weights; in
            units of 1/time.  The same as that of `Descent` and of torch's SGD.  None
            and 0 add nothing.  aⱼ² − |wⱼ|² then decays as e^{−2μt}.

    Reference: Filippov (1988), Differential equations with discontinuous righthand
    sides; Dieci & Lopez (2012), J. Comput. Appl. Math. 236.
    """

    pad_to: ClassVar[int] = 64

    rtol: Real = 1e-5
    solver: diffrax.AbstractERK = eqx.field(
        static=True, default=diffrax.Tsit5(scan_kind="lax")
    )
    dt0: Real | None = None
    max_steps: int = eqx.field(static=True, default=1_000_000)
    max_sliding: int | None = eqx.field(static=True, default=None)
    rows: int | None = eqx.field(static=True, default=None)
    stabilise: bool = eqx.field(static=True, default=True)
    decouple: bool | None = eqx.field(static=True, default=None)
    events: int = eqx.field(static=True, default=0)
    weight_decay: Real | None = None

    def __check_init__(self):
        check_weight_decay(self.weight_decay)
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
        for name in ("max_steps", "max_sliding", "rows"):
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

    def prepared(self) -> "ReluFlow":
        """Without a weight decay of 0."""
        return without_zero(self)

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:  # noqa: ARG002
        """Numbers that an attempt holds: 4⅜ per n × m, four per plane slid on."""
        m, e = network.w.shape[0], network.w.shape[1] + (network.b is not None)
        sliding = min(n, e, 32 if self.max_sliding is None else self.max_sliding)
        noted = 4 * (m * MAX_EVENTS + self.events) if self.events else 0
        return 35 * n * width // 8 + 4 * m * sliding * (e + 4) + noted

    def step_equations(self, state: FlowState) -> int:
        """About as many as there are; neurons by classes take more."""
        return 5_000 if state.memory.neurons.classes is None else 20_000

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
            has another way to train than −∇L, the loss has kinks of its own, the sample
            holds integers, or `decouple` is True of a network of several outputs, or
            whose output weights are frozen.
        """
        del key
        for name in ("x", "y", "weight"):
            kind = getattr(data, name).dtype
            if not jnp.issubdtype(kind, jnp.floating):
                raise BadInput(
                    f"`data.{name}` must hold floats for ReluFlow, got {kind}. "
                    f"Example: {name}.astype(float)."
                )
        refuse_kinks_of_loss("ReluFlow", loss, data, "")
        refuse_own_gradient(network)
        return self._first_state(network, data, loss)

    @one_program
    def _first_state(self, network: Any, data: Dataset, loss: Loss) -> FlowState:
        slope = negative_slope(network)
        w, a = weights(network)
        sample = _sample(network, data, loss, self.weight_decay)
        if self.decouple and not may_be_noninteracting(sample):
            raise BadInput(
                "`decouple`: neurons are followed by themselves for one output that is "
                f"trained, got {sample.y.shape[1]} outputs and frozen = "
                f"{getattr(network, 'frozen', ())}. Leave it out."
            )
        neurons = first_neurons(w, a, sample, slope, self._capacity(sample))
        is_sane = is_finite((w, a, neurons.rates, data.weight))
        status = where_status(~is_sane, Status.NONFINITE, jnp.int32(Status.RUNNING))
        length = first_length(neurons) if self.dt0 is None else self.dt0
        nonunique_events = nonunique_at_start(neurons, sample, slope)
        stats = first_stats(nonunique_events=nonunique_events)
        if self.events:
            stats["events"] = jnp.int32(0)
        memory = ReluMemory(
            planes=sample.planes,
            length=jnp.asarray(length, clock()),
            neurons=neurons,
            controller=first_controller(w.dtype),
            has_overflowed=jnp.array(False),
            stiffness=unknown_stiffness(w, a) if self.stabilise else None,
            trust=jnp.ones((), w.dtype)
            if self._may_be_noninteracting(len(w), sample)
            else None,
            log=no_log(self.events, clock()) if self.events else None,
        )
        return FlowState(network, jnp.zeros((), clock()), status, stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt, or up to 32 of an aggregated network; `until` must be finite."""
        planes = state.memory.planes
        sample = _sample(state.network, data, loss, self.weight_decay, planes)
        rtol = relative_tolerance(self.rtol, state.network.w.dtype)
        until = until.astype(state.time.dtype)
        here = sample, until, rtol
        records_events = self.events > 0
        options = Options(
            self.solver,
            rtol,
            negative_slope(state.network),
            self.rows,
            self.max_steps,
            records_events,
        )
        attempt = functools.partial(controlled_step, options)
        if state.memory.neurons.classes is None or records_events:
            return attempt(state, *here)[0]
        goes = (state.status == Status.RUNNING) & (state.time < until)
        is_noninteracting = next_length(state.memory, sample, rtol)[1]
        ahead = aggregated_steps(attempt, state, here, goes & ~is_noninteracting)
        by_all = lambda here, state: attempt(state, *here)[0]
        is_left = (ahead.status == Status.RUNNING) & (ahead.time == state.time)
        return when(by_all)(goes & is_left, here, ahead)

    def _may_be_noninteracting(self, m: int, sample: Sample) -> bool:
        pays = m * sample.x.shape[0] >= NONINTERACTING_PAYS
        wanted = pays if self.decouple is None else self.decouple
        return wanted and may_be_noninteracting(sample) and not self.events

    def _capacity(self, sample: Sample) -> int:
        n, e = sample.x.shape
        return min(n, e, 32 if self.max_sliding is None else self.max_sliding)


def _sample(
    network: Any,
    data: Dataset,
    loss: Loss,
    weight_decay: Real | None,
    planes: Planes | None = None,
) -> Sample:
    frozen = getattr(network, "frozen", ())
    if frozen not in ((), ("a",)):
        raise BadInput(
            f"`frozen`: ReluFlow can hold the output weights, ('a',), got {frozen}. "
            "Use descent (Descent)."
        )
    return extended_sample(
        data,
        loss,
        network.b is not None,
        planes,
        is_output_frozen=frozen == ("a",),
        weight_decay=weight_decay,
    )
