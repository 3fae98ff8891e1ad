"""One attempted step of `gradient_flow`: of adapted or of constant length."""

import dataclasses
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from simbias.core import FlowState, Loss, Real, Status
from simbias.flows._gradient.at_rest import Way
from simbias.flows._shared.objective import (
    Sample,
    choose,
    is_finite,
    precision,
    value_and_gradient,
    where_status,
)
from simbias.flows._shared.solvers import with_tolerances
from simbias.flows._shared.step_clock import CLIP, least_step
from simbias.flows._shared.weight_decay import decayed


class Problem(NamedTuple):
    """θ' = −∇L(θ) − μθ on a sample, as diffrax takes it."""

    term: diffrax.ODETerm
    sample: Sample

    def step(
        self,
        solver: diffrax.AbstractSolver,
        params: PyTree,
        dt: Float[Array, ""],
        solver_state: PyTree,
    ) -> tuple[PyTree, PyTree, PyTree]:
        """θ after dt, the estimate of its error (None if there is none), solver state.

        The field does not depend on time, so a step may start at 0 in the type of the
        weights.
        """
        start = jnp.zeros_like(dt)
        new, error, _, solver_state, _ = solver.step(
            self.term, start, dt, params, self.sample, solver_state, made_jump=False
        )
        return new, error, solver_state


def make_problem(
    static: PyTree,
    loss: Loss,
    sample: Sample,
    weight_decay: Float[Array, ""] | None = None,
) -> Problem:
    """The flow of the trained leaves; `static` is all else of the network."""

    def field(t: Any, params: PyTree, sample: Sample) -> PyTree:
        del t
        _, gradient = value_and_gradient(params, static, loss, sample)
        return decayed(jax.tree.map(jnp.negative, gradient), params, weight_decay)

    return Problem(diffrax.ODETerm(field), sample)


class Memory(eqx.Module):
    """What an attempt needs from those before it.

    `tnext` is where the next step wants to end, before `until` cuts it; `way` is
    where the weights were, None where nothing asks for it.
    """

    tnext: Float[Array, ""]
    was_kept: Bool[Array, ""]
    has_overflowed: Bool[Array, ""]
    atol: Float[Array, ""]
    solver: PyTree
    controller: PyTree
    way: Way | None


class Attempt(NamedTuple):
    """What would be, and whether it was tried at all and is to be kept.

    `is_again` says that the attempt before was rejected too, and neither overflowed.
    """

    params: PyTree
    time: Float[Array, ""]
    memory: Memory
    is_tried: Bool[Array, ""]
    is_kept: Bool[Array, ""]
    status: Int[Array, ""]
    is_again: Bool[Array, ""]


def adaptive_attempt(
    solver: diffrax.AbstractSolver,
    rtol: Real,
    problem: Problem,
    params: PyTree,
    state: FlowState,
    until: Float[Array, ""],
) -> Attempt:
    """The body of `diffrax.diffeqsolve`, with `until` in the place of its end."""
    memory, time, dtype = state.memory, state.time, precision(params)
    pid = diffrax.PIDController(jnp.asarray(rtol, dtype), memory.atol)
    is_clipped = memory.tnext > until * (1 - CLIP * jnp.finfo(until.dtype).eps)
    clip = jnp.where(memory.was_kept, until, time + 0.5 * (until - time))
    tnext = jnp.where(is_clipped, clip, memory.tnext)
    dt = (tnext - time).astype(dtype)
    new, error, solver_state = problem.step(
        with_tolerances(solver, pid), params, dt, memory.solver
    )
    overflows = ~is_finite((new, error, solver_state))
    # An infinite weight would make error / |θ| a NaN, and that the next step.
    seen = choose(overflows, params, new)
    error = jax.tree.map(lambda v: jnp.where(overflows, jnp.inf, v), error)
    order: Any = solver.error_order(problem.term)
    is_kept, end, proposal, _, controller, _ = pid.adapt_step_size(
        time,
        tnext,
        params,
        seen,
        problem.sample,
        error,
        order,
        memory.controller,
    )
    is_kept, end = jnp.asarray(is_kept), jnp.asarray(end)
    uncut = jnp.maximum(proposal, tnext + (memory.tnext - time))
    proposal = jnp.where(is_clipped & is_kept, uncut, proposal)

    is_too_small = memory.tnext - time < least_step(time, until)
    status = where_status(
        is_too_small, Status.STEP_TOO_SMALL, jnp.int32(Status.RUNNING)
    )
    status = where_status(
        is_too_small & memory.has_overflowed, Status.NONFINITE, status
    )
    is_again = ~memory.was_kept & ~memory.has_overflowed & ~overflows
    memory = Memory(
        tnext=proposal,
        was_kept=is_kept,
        has_overflowed=overflows,
        atol=memory.atol,
        solver=choose(is_kept, solver_state, memory.solver),
        controller=jax.tree.map(jnp.asarray, controller),
        way=memory.way,
    )
    return Attempt(new, end, memory, ~is_too_small, is_kept, status, is_again)


def constant_attempt(
    solver: diffrax.AbstractSolver,
    dt0: Real,
    problem: Problem,
    params: PyTree,
    state: FlowState,
    until: Float[Array, ""],
) -> Attempt:
    """A step to the next multiple of dt0, or to `until`."""
    memory, time = state.memory, state.time
    step = jnp.asarray(dt0, until.dtype)
    # A product, not a sum: the times do not drift, and h is dt0 to the last bit.
    slack = least_step(time + step, until) / 3
    tnext = step * (jnp.floor((time + slack) / step) + 1)
    tnext = jnp.where(tnext > until - slack, until, tnext)
    dt = jnp.where(jnp.abs(tnext - time - step) <= slack, step, tnext - time)
    dt = dt.astype(precision(params))
    new, _, solver_state = problem.step(solver, params, dt, memory.solver)
    is_too_small = step < least_step(time, until)
    is_kept = is_finite((new, solver_state))
    status = where_status(~is_kept, Status.NONFINITE, jnp.int32(Status.RUNNING))
    status = where_status(is_too_small, Status.STEP_TOO_SMALL, status)
    solver_state = choose(is_kept, solver_state, memory.solver)
    memory = dataclasses.replace(memory, solver=solver_state)
    never = jnp.array(False)
    return Attempt(new, tnext, memory, ~is_too_small, is_kept, status, never)
