"""What is asked of the methods of diffrax."""

from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from simbias.errors import BadInput


def error_order(solver: diffrax.AbstractERK) -> int:
    """Power of the step in the error estimate."""
    order = solver.error_order(diffrax.ODETerm(lambda _, y, __: y))
    assert isinstance(order, int)
    return order


def stages(solver: diffrax.AbstractERK) -> int:
    """Evaluations in one step."""
    return solver.tableau.num_stages - is_chained(solver)  # pyright: ignore


def is_chained(solver: diffrax.AbstractERK) -> bool:
    """True if the last evaluation is at the end of the step."""
    return solver.tableau.fsal  # pyright: ignore


def check_solver(solver: diffrax.AbstractSolver, is_adaptive: bool) -> None:
    """Refuse methods without what the steps need.

    Raises:
        ValueError: naming one that has it.
    """
    is_implicit = isinstance(solver, diffrax.AbstractESDIRK)
    has_error = isinstance(solver, diffrax.AbstractERK) or is_implicit
    if not (has_error or isinstance(solver, diffrax.Euler)):
        raise BadInput(
            "`solver` must be an explicit Runge–Kutta method of diffrax, one of its "
            f"Kvaerno methods or Euler, got {type(solver).__name__}. "
            "Example: solver=diffrax.Tsit5()."
        )
    if is_adaptive and not has_error:
        raise BadInput(
            f"`solver` {type(solver).__name__} estimates no error. Use a constant "
            "step, is_adaptive=False with dt0=0.01, or solver=diffrax.Heun()."
        )
    if is_implicit and not is_adaptive:
        raise BadInput(
            f"`solver` {type(solver).__name__} needs is_adaptive=True: when its "
            "equations do not converge, the step must shrink."
        )


def with_tolerances(
    solver: diffrax.AbstractSolver, pid: diffrax.PIDController
) -> diffrax.AbstractSolver:
    """An implicit solver whose root finder takes the tolerances of the steps."""
    if not isinstance(solver, diffrax.AbstractImplicitSolver):
        return solver
    tolerances = lambda s: (s.root_finder.rtol, s.root_finder.atol, s.root_finder.norm)
    return eqx.tree_at(tolerances, solver, (pid.rtol, pid.atol, pid.norm))


def stages_at_once(solver: Any) -> int:
    """Evaluations of ∇L that a step keeps until its end."""
    return 1 if isinstance(solver, diffrax.Euler) else solver.tableau.num_stages


def stages_taken(solver: Any, is_first: Bool[Array, ""]) -> Int[Array, ""]:
    """Evaluations of ∇L in an attempt; the first step has none from before."""
    if isinstance(solver, diffrax.Euler):
        return jnp.int32(1)
    stages = solver.tableau.num_stages
    if not solver.tableau.fsal:
        return jnp.int32(stages)
    if isinstance(solver, diffrax.AbstractImplicitSolver):
        return jnp.int32(stages - 1)  # which begins with ∇L
    return stages - 1 + is_first.astype(jnp.int32)
