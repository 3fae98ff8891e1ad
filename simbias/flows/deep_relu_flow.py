"""Exact gradient flow of deep ReLU and leaky ReLU networks."""

from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status
from simbias.errors import BadInput
from simbias.flows._deep.attempt_step import attempt_step
from simbias.flows._deep.event_log import empty_log
from simbias.flows._deep.gated_sample import GatedSample, gated_sample, with_theta
from simbias.flows._deep.memory import DeepMemory
from simbias.flows._deep.next_length import next_length
from simbias.flows._deep.refusals import refuse, refuse_kinks_left
from simbias.flows._deep.sliding import free_slots, scales
from simbias.flows._shared.eligibility import counted, eligibility_of, first_counts
from simbias.flows._shared.loss_kinks import refuse_kinks_of_loss
from simbias.flows._shared.objective import choose, is_finite, where_status
from simbias.flows._shared.one_program import one_program
from simbias.flows._shared.step_clock import clock, end_of_step, least_step
from simbias.flows._shared.tolerances import absolute_tolerance, relative_tolerance
from simbias.flows._shared.weight_decay import check_weight_decay, without_zero
from simbias.introspection.trained_arrays import size
from simbias.validation.values import positive, positive_integer

# Room for pre-activations that are 0 at an event beside those that slide.
_MET_AT_ONCE = 32
# Steps are at most this long in units of 1/stiffness: Tsit5 and Dopri5 are stable up
# to about 3.3, and errors in the stiffest direction decay fast below this.
_STABLE = 2.5
# Events in a row without time between them, after which a member gives up.
_MOST_STUCK = 12


class DeepReluFlow(AbstractFlow):
    """θ' ∈ −∂L(θ) − μθ for networks of any depth, with sliding.

    Solutions are in the sense of Filippov.  μ is the `weight_decay`, 0 unless it is
    given.

    The field jumps where a pre-activation z of a ReLU is 0.  During a step the sides of
    all pre-activations are fixed, so the Runge–Kutta method integrates a smooth field.
    Its dense output locates the events.  Crossings of z = 0 are corrected to second
    order.  The step ends where a pre-activation begins to slide along z = 0, because
    both sides push it back, or is released.  The field of a network that slides is the
    projection on all of its constraints z = 0.

    A step is accepted if the root mean square over the weights of
    error / (atol + rtol |θ|) is below 1, for the error of the method and for that of
    the crossings.

    `stats`: `evaluations` of the field (Tsit5: 6 per attempt, and those of events),
    `accepted`, `rejected`, `crossings`, `slides`, `releases`, and `choices`: how often
    the flow had more than one way to go on, or none was found to be consistent.

    Args:
        rtol: relative tolerance.
        atol: absolute tolerance.  None is rtol/1000 times the median size of the
            initial weights.
        solver: explicit Runge–Kutta method of diffrax whose last stage is at the end
            of the step, with dense output of its own order.
        dt0: first step; None takes one in which weights move by about 1 %.
        max_steps: a member that needs more attempts ends as MAX_STEPS.
        max_sliding: pre-activations that can slide at once; None is as many as the
            network has hidden units, at least 32.  A member that needs more ends as
            CAPACITY.
        events: room for so many events, written down with their times: the result has
            `event_time`, `event_layer` (0 is the first hidden layer), `event_neuron`,
            `event_sample` and `event_kind` (1 the pre-activation turns positive, 2
            negative, 3 it begins to slide, 4 it leaves to the positive, 5 to the
            negative side), and `stats` counts all `events`, also those that found no
            room.  Recording changes the weights by rounding only.
        weight_decay: μ ≥ 0, the flow of L + (μ/2)‖θ‖² over all trained weights, biases
            included; in units of 1/time.  The same as that of `Descent` and of torch's
            SGD.  None and 0 add nothing.

    Reference: Filippov (1988), Differential equations with discontinuous righthand
    sides; Dieci & Lopez (2012), J. Comput. Appl. Math. 236.
    """

    pad_to: ClassVar[int] = 8

    rtol: Real = 1e-6
    atol: Real | None = None
    solver: diffrax.AbstractERK = eqx.field(static=True, default=diffrax.Tsit5())
    dt0: Real | None = None
    max_steps: int = eqx.field(static=True, default=1_000_000)
    max_sliding: int | None = eqx.field(static=True, default=None)
    events: int = eqx.field(static=True, default=0)
    weight_decay: Real | None = None

    def __check_init__(self):
        check_weight_decay(self.weight_decay)
        for name in ("rtol", "atol", "dt0"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        for name in ("max_steps", "max_sliding"):
            if getattr(self, name) is not None:
                positive_integer(name, getattr(self, name))
        if self.events != 0:
            positive_integer("events", self.events)
        if not isinstance(self.solver, (diffrax.Tsit5, diffrax.Dopri5, diffrax.Bosh3)):
            raise BadInput(
                "`solver` must be one of Tsit5, Dopri5 and Bosh3 of diffrax, got "
                f"{type(self.solver).__name__}. Example: solver=diffrax.Tsit5()."
            )

    def prepared(self) -> "DeepReluFlow":
        """Without a weight decay of 0."""
        return without_zero(self)

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """Numbers that an attempt holds: weights per stage and slot, 40 per n × m."""
        sliding = max(width, 32) if self.max_sliding is None else self.max_sliding
        copies = 12 + 4 * (sliding + _MET_AT_ONCE)
        gradient = super().attempt_size(network, n, width, tile)
        noted = 5 * (n * width + self.events) if self.events else 0
        return gradient + copies * size(network) + 40 * n * width + noted

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """Time, layer, neuron, sample and kind of events; NaN in places that are left.

        A neuron of a convolution is its place in the flat array of its layer.
        """
        log = state.memory.log
        if log is None:
            return {}
        is_one = jnp.arange(self.events, dtype=jnp.int32) < log.size
        written = lambda v: jnp.where(is_one, v.astype(log.time.dtype), jnp.nan)
        names = ("time", "layer", "neuron", "sample", "kind")
        return {f"event_{name}": written(getattr(log, name)) for name in names}

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0; NONFINITE unless weights, inputs and loss are finite.

        Raises:
            ValueError: if the network has no method `gated`, or one that disagrees with
            `kink_slopes` or has kinks that the pattern does not hold; if nothing of it
            is trained, or it is trained on anything but the gradient of the loss; or if
            the loss has kinks of its own.
        """
        del key
        refuse(network)
        refuse_kinks_of_loss("DeepReluFlow", loss, data, "")
        return self._first_state(network, data, loss)

    @one_program
    def _first_state(self, network: Any, data: Dataset, loss: Loss) -> FlowState:
        sample, theta = gated_sample(network, data, loss, self.weight_decay)
        refuse_kinks_left(network, sample)
        is_above = _sides(sample, theta)
        slots = free_slots(self._capacity(sample) + _MET_AT_ONCE)
        out, z = sample.outputs(theta, scales(sample, is_above, is_above & False))
        value = loss(out, data.y, data.weight)
        is_sane = is_finite((theta, value, data.x))
        status = where_status(~is_sane, Status.NONFINITE, jnp.int32(Status.RUNNING))
        counts = ("crossings", "slides", "releases", "choices")
        counts += ("events",) if self.events else ()
        stats = first_counts(evaluations=0) | {name: jnp.int32(0) for name in counts}
        atol = absolute_tolerance(
            self.atol, relative_tolerance(self.rtol, theta.dtype), theta
        )
        memory = DeepMemory(
            length=jnp.asarray(1.0 if self.dt0 is None else self.dt0, clock()),
            atol=atol,
            is_above=is_above,
            slots=slots,
            field=jnp.zeros_like(theta),
            z=z,
            is_new=jnp.array(True),
            stuck=jnp.int32(0),
            is_alone=jnp.array(False),
            has_overflowed=jnp.array(False),
            log=empty_log(self.events, clock()) if self.events else None,
        )
        return FlowState(network, jnp.zeros((), clock()), status, stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt; `until` must be finite."""
        sample, theta = gated_sample(state.network, data, loss, self.weight_decay)
        memory, time, dtype = state.memory, state.time, theta.dtype
        until = until.astype(time.dtype)
        tnext, is_clipped = end_of_step(time, memory.length, until)
        length = (tnext - time).astype(dtype)
        rtol = relative_tolerance(self.rtol, dtype)
        most = self._capacity(sample)
        new = attempt_step(
            sample,
            theta,
            memory,
            length,
            rtol,
            self.solver,
            most,
            records_events=self.events > 0,
        )
        arrival = new.arrival
        overflows = ~is_finite((arrival.theta, arrival.field, new.error))
        error = jnp.where(overflows, jnp.inf, new.error)
        kink_error = jnp.where(overflows, 0, new.kink_error)
        is_alone = arrival.is_alone & (error <= 1) & (kink_error <= 1)
        is_kept = (error <= 1) & (kink_error <= 1) & ~is_alone
        is_whole = arrival.fraction == 1
        reached = time + arrival.fraction.astype(time.dtype) * (tnext - time)
        reached = jnp.where(is_whole, tnext, jnp.minimum(reached, tnext))
        order: Any = self.solver.order(None)
        proposal = next_length(
            memory,
            arrival.field,
            theta,
            length,
            error,
            kink_error,
            order=order,
            dt0=self.dt0,
        )
        # A rejected attempt may have overflowed, or been far from the solution.
        is_limited = (new.stiffness > 0) & jnp.isfinite(new.stiffness)
        is_limited &= is_kept & ~memory.is_new
        stable = _STABLE / jnp.where(is_limited, new.stiffness, 1)
        limited = jnp.minimum(proposal, stable.astype(proposal.dtype))
        proposal = jnp.where(is_limited, limited, proposal)
        proposal = jnp.where(is_alone, memory.length, proposal)
        longer = jnp.maximum(proposal, memory.length)
        proposal = jnp.where(is_clipped & is_kept, longer, proposal)

        attempts = state.stats["accepted"] + state.stats["rejected"]
        eligibility = eligibility_of(state, until > time, attempts, self.max_steps)
        is_too_small = memory.length < least_step(time, until)
        is_too_small |= memory.stuck > _MOST_STUCK
        tries = eligibility.goes & ~is_too_small
        moves = tries & is_kept
        small = where_status(
            memory.has_overflowed, Status.NONFINITE, jnp.int32(Status.STEP_TOO_SMALL)
        )
        status = jnp.where(eligibility.goes & is_too_small, small, eligibility.status)
        status = where_status(moves & arrival.has_no_slot, Status.CAPACITY, status)
        stats = counted(state.stats, tries, moves, arrival.evaluations)
        for name in ("crossings", "slides", "releases", "choices"):
            count = jnp.where(moves, getattr(arrival, name), 0)
            stats[name] = state.stats[name] + count.astype(jnp.int32)
        log = memory.log
        if log is not None and arrival.events is not None:
            log, count = log.extended(
                arrival.events, sample.layer, time, reached, tnext - time
            )
            count = jnp.where(moves, count, 0)
            stats["events"] = state.stats["events"] + count
        kept = DeepMemory(
            length=proposal,
            atol=memory.atol,
            is_above=arrival.is_above,
            slots=arrival.slots,
            field=arrival.field,
            z=arrival.z,
            is_new=jnp.array(False),
            stuck=arrival.stuck,
            is_alone=jnp.array(False),
            has_overflowed=overflows,
            log=log,
        )
        same = eqx.tree_at(
            lambda m: (m.length, m.is_alone, m.has_overflowed),
            memory,
            (proposal, is_alone, overflows),
        )
        after = choose(tries, choose(moves, kept, same), memory)
        return FlowState(
            with_theta(state.network, jnp.where(moves, arrival.theta, theta)),
            jnp.where(moves, reached, time),
            status,
            stats,
            after,
        )

    def _capacity(self, sample: GatedSample) -> int:
        units = sample.layer.shape[0]
        return max(units, 32) if self.max_sliding is None else self.max_sliding


def _sides(sample: GatedSample, theta: Float[Array, " p"]) -> Array:
    """Sides z > 0, layer by layer."""
    shape = (sample.x.shape[0], sample.layer.shape[0])
    no = jnp.zeros(shape, bool)

    def body(_, is_above):
        return sample.outputs(theta, scales(sample, is_above, no))[1] > 0

    return jax.lax.fori_loop(0, len(sample.shapes), body, no)
