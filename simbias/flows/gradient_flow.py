"""Gradient flow of a smooth network, by the Runge–Kutta methods of diffrax."""

import dataclasses
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from simbias.core import AbstractFlow, Dataset, FlowState, Loss, Real, Status
from simbias.errors import BadInput
from simbias.flows._gradient.at_rest import first_way, gone
from simbias.flows._gradient.attempts import (
    Memory,
    Problem,
    adaptive_attempt,
    constant_attempt,
    make_problem,
)
from simbias.flows._shared.eligibility import counted, eligibility_of, first_counts
from simbias.flows._shared.loss_kinks import refuse_kinks_of_loss
from simbias.flows._shared.objective import (
    choose,
    is_finite,
    precision,
    value_and_gradient,
    where_status,
)
from simbias.flows._shared.one_program import one_program
from simbias.flows._shared.solvers import check_solver, stages_at_once, stages_taken
from simbias.flows._shared.step_clock import clock
from simbias.flows._shared.tolerances import absolute_tolerance
from simbias.flows._shared.weight_decay import (
    check_weight_decay,
    decayed,
    traced_decay,
    without_zero,
)
from simbias.introspection.array_network import original_network
from simbias.introspection.kinks import kink
from simbias.introspection.trained_arrays import size, split_trained
from simbias.network import hook
from simbias.validation.values import positive, positive_integer

# Methods for who may not know of diffrax: for many digits, and for stiff problems.
PRECISE = diffrax.Dopri8()
STIFF = diffrax.Kvaerno5()


class GradientFlow(AbstractFlow):
    """θ' = −∇L(θ) − μθ, for networks whose gradient is continuous.

    μ is the `weight_decay`, 0 unless it is given.

    Steps are adapted as by `diffrax.PIDController`, to a root mean square of
    error / (atol + rtol |θ|) below 1; given `dt0`, and up to the first record, they are
    bit for bit the steps of `diffrax.diffeqsolve`.  A step cut short by a record does
    not shorten the next.  An attempt that overflows is rejected; when the step falls
    below the rounding of times up to `until`, the member ends as NONFINITE if the last
    attempt overflowed, else as STEP_TOO_SMALL.  The network is always the last finite.

    `evaluations` counts ∇L: one to begin, two more if `dt0` is chosen, and in every
    attempt one per stage, less the stage that the method keeps from the step before
    (Tsit5: 6, Dopri8: 13).  An implicit stage counts once, whatever its Newton
    iterations and Jacobian cost.  `rejected_again` counts attempts that were rejected
    although the error estimate of a rejected attempt had just shortened them: many of
    them are the mark of a kink, and a warning says so after the run.

    Args:
        solver: an explicit Runge–Kutta method of diffrax (`Tsit5()`, `Dopri8()`, …),
            `Euler()`, or an implicit one for stiff problems.  `Kvaerno5()` keeps one
            Jacobian per step and may shrink its steps for that; with `root_finder=
            diffrax.with_stepsize_controller_tols(optimistix.Chord)()` it does not.
        rtol: relative tolerance.
        atol: absolute tolerance.  None is rtol/1000 times the median size of the
            initial weights, so that a small initial scale is resolved as well as a
            large one.
        dt0: first step; None chooses it (Hairer, Nørsett & Wanner, section II.4).  If
            `is_adaptive` is False, every step.
        is_adaptive: False steps to dt0, 2 dt0, … and to the recorded times.
        rest: ends a member as CONVERGED once ‖θ(t) − θ(⅔t)‖ ≤ rest · ‖θ(⅔t) − θ(0)‖:
            while t grew by a half the weights moved by less than this share of their
            way before.  A rule without units: it does not depend on the scale of the
            weights, nor on that of the loss or of time.  A saddle point that is met
            later looks the same.  None never ends it.
        max_steps: a member that needs more attempts ends as MAX_STEPS.
        allow_kinks: True integrates a ReLU network as if it were smooth, to measure
            what that does, and one that looks like it and is smooth, as with elu.
        weight_decay: μ ≥ 0, the flow of L + (μ/2)‖θ‖² over all trained weights; in
            units of 1/time.  The same as that of `Descent` and of torch's SGD.  None
            and 0 add nothing.
    """

    solver: diffrax.AbstractSolver = eqx.field(static=True, default=diffrax.Tsit5())
    rtol: Real = 1e-6
    atol: Real | None = None
    dt0: Real | None = None
    is_adaptive: bool = eqx.field(static=True, default=True)
    rest: Real | None = None
    max_steps: int = eqx.field(static=True, default=100_000)
    allow_kinks: bool = eqx.field(static=True, default=False)
    weight_decay: Real | None = None

    def __check_init__(self):
        check_weight_decay(self.weight_decay)
        for name in ("rtol", "atol", "dt0", "rest"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        positive_integer("max_steps", self.max_steps)
        check_solver(self.solver, self.is_adaptive)
        if not self.is_adaptive and self.dt0 is None:
            raise BadInput(
                "`dt0` must be given when `is_adaptive` is False: it is the step. "
                "Example: dt0=0.01."
            )

    def prepared(self) -> "GradientFlow":
        """Without a weight decay of 0."""
        return without_zero(self)

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """Numbers that an attempt holds: a gradient, and weights at every stage."""
        copies = stages_at_once(self.solver) + 3
        return super().attempt_size(network, n, width, tile) + copies * size(network)

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0; NONFINITE unless the weights, the loss and ∇L are finite.

        Raises:
            ValueError: if the network or the loss has kinks, or may have some, and
                `allow_kinks` is False, or if the rows of the network see each other or
                it draws in training.
        """
        del key
        if hook(network, "on_sample") is not None:
            raise BadInput(
                "GradientFlow moves every weight and nothing else, got a network with "
                "batch normalisation, whose averages would stand still. Use the flow "
                '"descent".'
            )
        if hook(network, "in_training") is not None:
            raise BadInput(
                "GradientFlow follows one loss, got a network that draws random "
                "numbers in training (`in_training`), as under dropout. Use the flow "
                '"descent", or leave the dropout or noise out.'
            )
        if not self.allow_kinks:
            _refuse_kinks(network, data)
            refuse_kinks_of_loss(
                "GradientFlow", loss, data, ", or give the flow `allow_kinks=True`"
            )
        return self._first_state(network, data, loss)

    @one_program
    def _first_state(self, network: Any, data: Dataset, loss: Loss) -> FlowState:
        params, static = split_trained(network)
        sample = (data.x, data.y, data.weight)
        value, gradient = value_and_gradient(params, static, loss, sample)
        is_sane = is_finite((params, value, gradient))
        status = where_status(~is_sane, Status.NONFINITE, jnp.int32(Status.RUNNING))
        is_chosen = self.is_adaptive and self.dt0 is None
        stats = first_counts(evaluations=3 if is_chosen else 1)
        stats["rejected_again"] = jnp.int32(0)
        decay = traced_decay(self.weight_decay, precision(params))
        problem = make_problem(static, loss, sample, decay)
        memory = self._begin(problem, params, gradient)
        return FlowState(network, jnp.zeros((), clock()), status, stats, memory)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempt; `until` must be finite."""
        params, static = split_trained(state.network)
        sample = (data.x, data.y, data.weight)
        decay = traced_decay(self.weight_decay, precision(params))
        problem = make_problem(static, loss, sample, decay)
        until = until.astype(state.time.dtype)
        if self.is_adaptive:
            new = adaptive_attempt(
                self.solver, self.rtol, problem, params, state, until
            )
        else:
            assert self.dt0 is not None
            new = constant_attempt(self.solver, self.dt0, problem, params, state, until)

        attempts = state.stats["accepted"] + state.stats["rejected"]
        eligibility = eligibility_of(
            state, until > state.time, attempts, self.max_steps
        )
        tries = eligibility.goes & new.is_tried
        moves = tries & new.is_kept
        status = jnp.where(eligibility.goes, new.status, eligibility.status)
        memory = choose(tries, new.memory, state.memory)
        if self.rest is not None:
            way, is_at_rest = gone(state.memory.way, new.params, new.time, self.rest)
            memory = dataclasses.replace(memory, way=choose(moves, way, memory.way))
            status = where_status(moves & is_at_rest, Status.CONVERGED, status)
        cost = stages_taken(self.solver, state.stats["accepted"] == 0)
        stats = counted(state.stats, tries, moves, cost)
        again = tries & ~moves & new.is_again
        count = state.stats["rejected_again"] + again.astype(jnp.int32)
        return FlowState(
            eqx.combine(choose(moves, new.params, params), static),
            jnp.where(moves, new.time, state.time),
            status,
            {**stats, "rejected_again": count},
            memory,
        )

    def _begin(self, problem: Problem, params: PyTree, gradient: PyTree) -> Memory:
        (term, sample), dtype = problem, precision(params)
        zero, rtol = jnp.zeros((), dtype), jnp.asarray(self.rtol, dtype)
        atol = absolute_tolerance(self.atol, rtol, params)
        solver = self.solver.init(term, zero, zero, params, sample)
        if isinstance(self.solver, diffrax.AbstractImplicitSolver):
            # diffrax computes the field at the start anew for every member of a batch
            # in which one is at its first step; here the two differ by a tolerance.
            # What its methods remember is undocumented: pyproject caps diffrax.
            decay = traced_decay(self.weight_decay, dtype)
            rate = decayed(jax.tree.map(jnp.negative, gradient), params, decay)
            solver = (jnp.array(False), rate)
        first = None if self.dt0 is None else jnp.asarray(self.dt0, dtype)
        controller = ()
        if self.is_adaptive:
            order = self.solver.error_order(term)
            pid = diffrax.PIDController(rtol, atol)
            first, controller = pid.init(
                term, zero, zero, params, first, sample, self.solver.func, order
            )
            # Where the norms overflow there is no choice; the value is Hairer's least.
            first = jnp.where(jnp.isfinite(first) & (first > 0), first, 1e-6)
        tnext = first if self.dt0 is None else self.dt0
        return Memory(
            tnext=jnp.asarray(tnext, clock()),
            was_kept=jnp.array(True),
            has_overflowed=jnp.array(False),
            atol=atol,
            solver=solver,
            controller=jax.tree.map(jnp.asarray, controller),
            way=None if self.rest is None else first_way(params),
        )


def _refuse_kinks(network: Any, data: Dataset) -> None:
    found = kink(network, data.x[0])
    if found is None:
        return
    name = type(original_network(network)).__name__
    example = (
        'Use the flow "descent" with a small rate, "relu_flow" for the exact flow of '
        'two layers, "deep_relu_flow" for more, or a smooth activation such as gelu.'
    )
    if hook(network, "has_kinks"):
        raise BadInput(
            f"GradientFlow needs a network with a continuous gradient, got a {name} "
            "with kinks (ReLU or leaky ReLU): its ∇L jumps on every hyperplane w·x = 0 "
            "of a sample x, neurons slide along these, and an adaptive step shrinks "
            f"without end. {example}"
        )
    raise BadInput(
        "GradientFlow needs a network with a continuous gradient, and that of this "
        f"{name} may jump, as with ReLU: {found}. {example} If you know that it does "
        "not jump, as with elu, give the class of the network `has_kinks = False`, or "
        "the flow `allow_kinks=True`."
    )
