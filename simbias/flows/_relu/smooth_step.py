"""A step of the frozen field, by the user's method or by a stabilised one.

Late in training the solution hardly moves, but an explicit method must keep h below
about 3/ρ, where ρ is the largest rate of decay of the field (the largest eigenvalue of
the Hessian).  Once that is what bounds the steps, Runge–Kutta–Chebyshev takes over.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._relu.frozen_field import FlowVector, FrozenField
from simbias.flows._relu.norms import norm
from simbias.flows._relu.rkc_step import (
    ERROR_ORDER,
    chebyshev_step,
    error_estimate,
    largest_stretch,
    stages_for,
)
from simbias.flows._shared.solvers import error_order, is_chained, stages
from simbias.numerics.conditionals import if_else

# Between ordinary steps of ρh up to about 3 (7 evaluations) and stabilised ones of the
# same length (6 evaluations) there is nothing to choose.
_STIFF, _EASY = 2.8, 2.5
_VOTES = 10
# The power method comes from below.
_MARGIN = 1.1
# What an attempt that was rejected may add to ρ.
_GROWTH = 10.0


class Stiffness(eqx.Module):
    """ρ, the direction that decays fastest, and which method is in use."""

    radius: Float[Array, ""]
    w: Float[Array, "e m"]
    a: Float[Array, "k m"]
    is_stiff: Bool[Array, ""]
    votes: Int[Array, ""]

    def longest(self) -> Float[Array, ""]:
        """Longest step that the stabilised method can take; no bound for the other."""
        is_bound = self.is_stiff & (self.radius > 0)
        radius = jnp.where(is_bound, self.radius, 1)
        return jnp.where(is_bound, largest_stretch() / radius, jnp.inf)

    def along(
        self, change: Callable[[Array, Array], tuple[Array, Array]]
    ) -> "Stiffness":
        """The direction that decays fastest, of other neurons."""
        w, a = change(self.w, self.a)
        return Stiffness(self.radius, w, a, self.is_stiff, self.votes)

    def rejected(self, before: "Stiffness") -> "Stiffness":
        """After a rejected attempt of the stabilised method: ρ is at least `before`'s.

        With too few stages the attempt diverges, and the field at its end says nothing
        about ρ and the direction here.  A smaller ρ would take even fewer stages; one
        that is far too large would end the member.
        """
        radius = jnp.clip(self.radius, before.radius, _GROWTH * before.radius)
        return Stiffness(radius, before.w, before.a, self.is_stiff, self.votes)


class Smooth(NamedTuple):
    """End of a step, its error estimate, and the field at its end; neurons last."""

    end: FlowVector
    error: FlowVector
    end_rates: FlowVector
    order: Float[Array, ""]
    evaluations: Int[Array, ""]
    stiffness: Stiffness | None


def unknown_stiffness(w: Float[Array, "m e"], a: Float[Array, "m k"]) -> Stiffness:
    """Before the first step: not stiff."""
    zero = jnp.zeros((), w.dtype)
    zeros = jnp.zeros_like
    return Stiffness(zero, zeros(w.T), zeros(a.T), jnp.array(False), jnp.int32(0))


def smooth_step(
    field: FrozenField,
    y0: FlowVector,
    rate: FlowVector,
    length: Float[Array, ""],
    solver: diffrax.AbstractERK,
    stiffness: Stiffness | None,
) -> Smooth:
    """One step from `y0` (its `w` and `a`), at which the field is `rate`.

    Without `stiffness` the user's method takes every step.
    """
    if stiffness is None:
        return _ordinary(field, y0, rate, length, solver, None)
    here = field, y0, rate, length, stiffness

    def by_solver(here):
        field, y0, rate, length, stiffness = here
        return _ordinary(field, y0, rate, length, solver, stiffness)

    by_chebyshev = lambda here: _stabilised(*here)
    new = if_else(by_chebyshev, by_solver)(stiffness.is_stiff, here)
    return new._replace(stiffness=_revised(new.stiffness, length))


def _ordinary(
    field: FrozenField,
    y0: FlowVector,
    rate: FlowVector,
    length: Float[Array, ""],
    solver: diffrax.AbstractERK,
    stiffness: Stiffness | None,
) -> Smooth:
    """By the user's method; ρ from its last two stages.

    The moments and residuals ride along as if they were to be integrated: a method
    that ends with an evaluation at its end point hands them over for nothing.
    """
    term = diffrax.ODETerm(lambda _, y, __: field(y.w, y.a))
    memory = (False, rate) if is_chained(solver) else None
    end, error, dense, memory, _ = solver.step(
        term, jnp.zeros_like(length), length, y0, None, memory, made_jump=False
    )
    end_rates = field(end.w, end.a) if memory is None else memory[1]
    if stiffness is not None:
        stiffness = _from_stages(solver, dense["k"], length, stiffness)
    # One at the end of the step with the old pattern, one with the new: the method's
    # own last stage does for the first.
    evaluations = jnp.int32(stages(solver) + 2 - is_chained(solver))
    order = jnp.asarray(error_order(solver), length.dtype)
    return Smooth(end, error, end_rates, order, evaluations, stiffness)


def _stabilised(
    field: FrozenField,
    y0: FlowVector,
    rate: FlowVector,
    length: Float[Array, ""],
    stiffness: Stiffness,
) -> Smooth:
    count = stages_for(_MARGIN * stiffness.radius * length)
    velocity = lambda y: field(*y)[:2]
    w, a = chebyshev_step(velocity, y0[:2], rate[:2], length, count)
    end_rates = field(w, a)
    error = error_estimate(y0[:2], (w, a), rate[:2], end_rates[:2], length)
    end = y0._replace(w=w, a=a)
    error = jax.tree.map(jnp.zeros_like, y0)._replace(w=error[0], a=error[1])
    order = jnp.asarray(ERROR_ORDER, length.dtype)
    stiffness = _by_power_method(field, end, end_rates, stiffness)
    # s of the step, one for ρ, one with the new pattern.
    return Smooth(end, error, end_rates, order, count + 2, stiffness)


def _from_stages(
    solver: diffrax.AbstractERK,
    increments: FlowVector,
    length: Float[Array, ""],
    stiffness: Stiffness,
) -> Stiffness:
    """ρ ≈ |F(Y) − F(Y')| / |Y − Y'| for the last two stages Y, Y' of a step.

    Args:
        solver: of the step.
        increments: h F of every stage, the stages first.
        length: h.
        stiffness: to be replaced.
    """
    rows = solver.tableau.a_lower  # pyright: ignore
    last = jnp.asarray(rows[-1], length.dtype)
    before = jnp.asarray(rows[-2], length.dtype) if len(rows) > 1 else last[:0]
    weights = last - jnp.pad(before, (0, last.size - before.size))
    apart = lambda k: jnp.tensordot(weights, k[:-1], axes=1)
    w, a = increments.w[-1] - increments.w[-2], increments.a[-1] - increments.a[-2]
    radius = _ratio(norm(w, a), norm(apart(increments.w), apart(increments.a)))
    return Stiffness(radius / length, w, a, stiffness.is_stiff, stiffness.votes)


def _by_power_method(
    field: FrozenField, end: FlowVector, end_rates: FlowVector, stiffness: Stiffness
) -> Stiffness:
    """One iteration, by a difference of the field along the last direction.

    At the end of the step: there the field is known for this very pattern, which at
    the start it is only up to what the events of the last step changed.
    """
    scale = jnp.sqrt(jnp.finfo(end.w.dtype).eps) * norm(end.w, end.a)
    share = _ratio(scale, norm(stiffness.w, stiffness.a))
    there = field(end.w + share * stiffness.w, end.a + share * stiffness.a)
    w, a = there.w - end_rates.w, there.a - end_rates.a
    radius = jnp.where(share > 0, _ratio(norm(w, a), scale), stiffness.radius)
    return Stiffness(radius, w, a, stiffness.is_stiff, stiffness.votes)


def _revised(stiffness: Stiffness, length: Float[Array, ""]) -> Stiffness:
    """The other method, once ten steps more than not have asked for it."""
    stretch = stiffness.radius * length
    disagrees = jnp.where(stiffness.is_stiff, stretch < _EASY, stretch > _STIFF)
    votes = jnp.maximum(stiffness.votes + jnp.where(disagrees, 1, -1), 0)
    changes = votes >= _VOTES
    return replace(
        stiffness,
        is_stiff=stiffness.is_stiff ^ changes,
        votes=jnp.where(changes, 0, votes),
    )


def _ratio(over: Float[Array, ""], under: Float[Array, ""]) -> Float[Array, ""]:
    return jnp.where(under > 0, over / jnp.where(under > 0, under, 1), 0)
