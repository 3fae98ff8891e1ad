"""Gradient descent and its relatives, by optax."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from simbias.core import AbstractFlow, Dataset, FlowState, Index, Loss, Real, Status
from simbias.errors import BadInput
from simbias.flows._descent.batches import Drawing, Sampling, draw_batch, first_batches
from simbias.flows._descent.clipping import clipped
from simbias.flows._descent.family import Coefficients, coefficients_of, is_named
from simbias.flows._descent.keys import of_member
from simbias.flows._descent.memory import Memory
from simbias.flows._descent.noise import first_noise, noise_of
from simbias.flows._descent.optimisers import (
    CONSTANTS,
    Family,
    Optimiser,
    check_optimiser,
    first_memory,
    has_own_rate,
    stays_finite,
)
from simbias.flows._descent.schedules import Schedule, check_schedule, factor, has_ended
from simbias.flows._descent.transforms import optimiser_step, transform_of
from simbias.flows._descent.validation import (
    check_batches,
    check_constants,
    check_left_out,
)
from simbias.flows._shared.eligibility import counted, eligibility_of, first_counts
from simbias.flows._shared.objective import (
    choose,
    is_finite,
    loss_in_training,
    loss_of,
    precision,
    value_gradient_and_rest,
    where_status,
)
from simbias.flows._shared.step_clock import clock
from simbias.introspection.trained_arrays import size, split_trained
from simbias.validation.values import positive, positive_integer

# A time counts as reached within rounding, as it does for the engine.
_REACHED = 1 - 1e-12


class Descent(AbstractFlow):
    """θ ← θ − rate · u, with u the gradient or what an optimiser makes of it.

    The clock is steps × rate for every optimiser.  For "gd" that is the time of the
    gradient flow, of which it is Euler's method; "momentum" and "nesterov" move
    1/(1 − decay) times as far in the same time, and for "adam" and "adamw" it is the
    distance that a weight whose gradient keeps its sign has moved.  A record at time t
    is of the first step with steps × rate ≥ t, up to rounding: the time may pass
    `until`, by less than rate.  With `counts_steps` the clock is the number of steps,
    and members of all rates take as many of them.

    Any optimiser of optax will do: `optax.lion`, or `functools.partial(optax.adamw,
    weight_decay=0.1)`, a function that is given the rate; or a transformation such as
    `optax.chain(optax.clip(1.0), optax.sgd(0.1))`, which has a rate of its own.  Then
    `rate` is left out, and the clock counts steps.  A key in the memory of an
    optimiser, such as that of `optax.noisy_sgd(…, key=0)`, is made the member's own:
    every seed has its own noise.

    With a `schedule` step k has the rate rate · schedule(k), and the clock is the sum
    of the rates taken so far.  Schedules of optax will do, such as
    `optax.cosine_decay_schedule(1.0, 1000)`.  Once the schedule is 0 for good nothing
    moves any more, and the member ends as CONVERGED: records of later times repeat the
    last network.

    With `batch` the gradient is that of a mini-batch ("gd" is then SGD).  By `sampling`
    in "epochs" the samples are shuffled at the start of every epoch and each is used
    once in it; the last batch is smaller if `batch` does not divide n, and a batch
    above n is the full sample.  With "replacement" every row is drawn from all of them;
    "fresh" rows are drawn from the law itself, `data.fresh`.  Padding is never drawn.

    With `fork` the batches are those of the member up to that step, and from it on
    those of a `branch`: members that differ in the branch alone have the same sample,
    the same start and the same first steps.

    A network with `in_training` draws from a key of the member and of the step, and of
    the place of a row in its batch; a fork does not change it.

    A step that makes the loss, a weight or the optimiser's memory NaN or infinite is
    undone and ends the member as NONFINITE.  `evaluations` counts gradients, of a
    mini-batch as of the full sample.

    Args:
        rate: learning rate (0.1 if not given); may differ per member.
        schedule: factor of the rate by step, a named function; None is 1 throughout.
        optimiser: "gd", "momentum" (v ← g + decay · v, u = v), "nesterov"
            (u = g + decay · v), "adam", "adamw", or one of optax, whose constants are
            its own.
        batch: samples in a mini-batch; None is the full sample.
        sampling: "epochs", "replacement" or "fresh".
        fork: number of the step, from 0, from which batches are those of the branch.
        branch: number of the branch, from 0.
        clip: a gradient of a norm above this is cut to it, before `weight_decay`.
        decay: of "momentum" and "nesterov" (None: 0.9), and β₁ of Adam (None: 0.9).
        beta2: β₂ of Adam (None: 0.999).
        epsilon: ε of Adam (None: 1e-8); gradients much smaller than it move little.
        weight_decay: λ.  For "adamw" θ also moves by −rate · λθ (None: 0.01).  For the
            others λθ is added to the gradient, as by a loss with (λ/2)‖θ‖² and by
            torch's SGD and Adam (None: nothing is added).
        counts_steps: times are numbers of steps, whatever the rate.
        max_steps: a member that needs more steps ends as MAX_STEPS.
        is_shared: optimisers with a name share one compiled program, in which a member
            holds both moments, whether it uses them or not; results are equal up to
            rounding.  For a grid over `flow.optimiser`.
        coefficients: what a shared optimiser is made of; filled in by `prepared`.
    """

    rate: Real | None = None
    schedule: Schedule | None = eqx.field(static=True, default=None)
    optimiser: Optimiser = eqx.field(static=True, default="gd")
    batch: int | None = eqx.field(static=True, default=None)
    sampling: Sampling = eqx.field(static=True, default="epochs")
    fork: Index | None = None
    branch: Index = 0
    clip: Real | None = None
    decay: Real | None = None
    beta2: Real | None = None
    epsilon: Real | None = None
    weight_decay: Real | None = None
    counts_steps: bool = eqx.field(static=True, default=False)
    max_steps: int = eqx.field(static=True, default=1_000_000_000)
    is_shared: bool = eqx.field(static=True, default=False)
    coefficients: Coefficients | None = None

    def __post_init__(self):
        if self.rate is None and not has_own_rate(self.optimiser):
            self.rate = 0.1

    def __check_init__(self):
        check_schedule(self.schedule, self.rate)
        if self.rate is not None:
            positive("rate", self.rate)
        positive_integer("max_steps", self.max_steps)
        if self.batch is not None:
            positive_integer("batch", self.batch)
        if self.clip is not None:
            positive("clip", self.clip)
        check_batches(self.batch, self.sampling, self.fork, self.branch)
        if self.is_shared and not is_named(self.optimiser):
            raise BadInput(
                "`is_shared` is for optimisers with a name, "
                f"{tuple(CONSTANTS)}, got {self.optimiser!r}."
            )
        check_optimiser(self.optimiser, self.rate)
        if isinstance(self.optimiser, str):
            check_constants(self.optimiser, self._constants())
        else:
            rates = {"rate": self.rate, "schedule": self.schedule}
            check_left_out(self.optimiser, self._constants(), rates)

    def _constants(self) -> dict[str, Real | None]:
        """Those of a named optimiser that were given, None for the others."""
        return {name: getattr(self, name) for name in CONSTANTS["adamw"]}

    @property
    def clock(self) -> str:
        """Steps × rate, or steps: if asked, or if the optimiser has its own rate."""
        if self.rate is None or self.counts_steps:
            return "steps"
        return "steps × rate" if self.schedule is None else "sum of the rates of steps"

    def prepared(self) -> "Descent":
        """With numbers in place of the optimiser's name, if it is shared."""
        if not (self.is_shared and isinstance(self.optimiser, str)):
            return self
        constants = self._constants()
        return dataclasses.replace(
            self,
            **dict.fromkeys(constants),
            optimiser=Family(),
            coefficients=coefficients_of(self.optimiser, constants),
        )

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """Numbers that a step holds: the gradient of a mini-batch, and new weights."""
        rows = n if self.batch is None else self._rows(n)
        return super().attempt_size(network, rows, width, tile) + 2 * size(network)

    def init(
        self,
        network: Any,
        data: Dataset,
        loss: Loss,
        key: PRNGKeyArray,
    ) -> FlowState:
        """State at time 0."""
        params, rest = split_trained(network)
        batches = None
        if self.batch is not None:
            batches = first_batches(key, data, self.sampling)
        noise = first_noise(key, network)
        # The first rate of all; no memory of optax depends on it.
        transform = self._transform(params, 1.0 if self.rate is None else self.rate)
        if is_named(self.optimiser):
            memory = Memory(transform.init(params), batches, noise)
        else:
            sample = (data.x, data.y, data.weight)
            value_of = lambda params: loss_of(params, rest, loss, sample)
            value = jnp.zeros((), precision(params))
            first = first_memory(transform, params, value=value, value_fn=value_of)
            memory = Memory(of_member(first, key), batches, noise)
        stats = first_counts(evaluations=0)
        status = jnp.int32(Status.RUNNING)
        return FlowState(network, jnp.zeros((), clock()), status, stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One step, unless the time is `until` or past it."""
        params, static = split_trained(state.network)
        count = state.stats["accepted"]
        sample, batches = (data.x, data.y, data.weight), state.memory.batches
        order = None
        if self.batch is not None:
            rows = self._rows(data.x.shape[0])
            drawing = Drawing(self.sampling, rows, self.fork, self.branch)
            sample, order = draw_batch(batches, data, drawing, count)
        noise = noise_of(state.memory.noise, count)
        value, gradient, rest = value_gradient_and_rest(
            params, static, loss, sample, noise
        )
        gradient = clipped(gradient, self.clip)
        if self.weight_decay is not None and self.optimiser != "adamw":
            decay = jnp.asarray(self.weight_decay, precision(params))
            gradient = jax.tree.map(lambda g, p: g + decay * p, gradient, params)
        rate, before = self._rate(count), state.memory.optimiser
        transform = self._transform(params, rate)
        of_loss = {
            "value": value,
            "value_fn": lambda p: loss_in_training(p, static, loss, sample, noise),
        }
        updates, optimiser = optimiser_step(
            self.optimiser, transform, gradient, before, params, **of_loss
        )
        new = optax.apply_updates(params, updates)

        is_before = state.time < until.astype(state.time.dtype) * _REACHED
        goes, status = eligibility_of(state, is_before, count, self.max_steps)
        if self.schedule is not None:
            is_over = goes & has_ended(self.schedule, count)
            status = where_status(is_over, Status.CONVERGED, status)
            goes = goes & ~is_over
        # A memory that overflows to ∞ would stop Adam without a trace.
        if is_named(self.optimiser):
            is_sound = is_finite((value, new, optimiser, rest))
        else:
            is_sound = is_finite((value, new, rest)) & stays_finite(before, optimiser)
        if self.schedule is not None:
            is_sound = is_sound & (rate >= 0)  # else the clock goes back, or to NaN
        moves = goes & is_sound
        status = where_status(goes & ~is_sound, Status.NONFINITE, status)
        stats = counted(state.stats, goes, moves, 1)
        if self.counts_steps:
            time = stats["accepted"].astype(clock())
        elif self.schedule is None:
            # A product, not a sum: a million additions of 0.1 are not 100,000.
            time = stats["accepted"].astype(clock()) * rate
        else:
            time = jnp.where(moves, state.time + rate, state.time)
        if self.batch is not None:
            batches = batches._replace(order=choose(moves, order, batches.order))
        memory = state.memory._replace(
            optimiser=choose(moves, optimiser, state.memory.optimiser), batches=batches
        )
        network = eqx.combine(*choose(moves, (new, rest), (params, static)))
        return FlowState(network, time, status, stats, memory)

    def _rate(self, count: Int[Array, ""]) -> Real:
        # A transformation has a rate of its own, and the clock counts steps.
        rate = 1.0 if self.rate is None else self.rate
        if self.schedule is None:
            return rate
        return factor(self.schedule, count) * rate

    def _rows(self, n: int) -> int:
        """Rows of a mini-batch of n samples, padding among them."""
        assert self.batch is not None
        # What is above n would be padding.
        return min(n, self.batch) if self.sampling == "epochs" else self.batch

    def _transform(self, params: PyTree, rate: Real) -> optax.GradientTransformation:
        constants, dtype = self._constants(), precision(params)
        return transform_of(self.optimiser, rate, constants, self.coefficients, dtype)
