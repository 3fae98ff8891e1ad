"""One attempted step of the exact flow of a deep network."""

from collections.abc import Callable
from typing import Any, NamedTuple

import diffrax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.flows._deep.arrival import Arrival, arrived_at
from simbias.flows._deep.event_log import no_step_events
from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.memory import DeepMemory
from simbias.flows._deep.sliding import back_to_pins
from simbias.flows._deep.stages import stages_of, stiffness_of
from simbias.numerics.conditionals import once


class Attempt(NamedTuple):
    """The arrival, and errors in tolerances: of the method, and of crossings.

    `stiffness` estimates the largest eigenvalue of the field's derivative, 0 if the
    method has no two stages at the end of the step.
    """

    arrival: Arrival
    error: Float[Array, ""]
    kink_error: Float[Array, ""]
    stiffness: Float[Array, ""]


def attempt_step(
    sample: GatedSample,
    theta: Float[Array, " p"],
    memory: DeepMemory,
    length: Float[Array, ""],
    rtol: Float[Array, ""],
    solver: diffrax.AbstractERK,
    most: int,
    *,
    records_events: bool = False,
) -> Attempt:
    """Integrate with fixed gates, add what crossings do, stop at the first decision.

    1. A Runge–Kutta step with the gates of its beginning.
    2. A walk along it adds the jump of the field behind every crossing.
    3. The field at the end makes that second order: its change by the crossings grows
       about linearly from each of them, so the weights move by κ/2 of the step times
       that change, κ being the mean share of the step behind a crossing.
    4. Where the walk stops, or a pin lets go, sides and pins are decided anew.

    A new member decides at its start and takes no time.
    """
    stages, z_end = stages_of(sample, theta, memory, length, solver)
    weights = lambda row: length * jnp.asarray(row, theta.dtype) @ stages
    tableau: Any = solver.tableau
    end = theta + weights(tableau.b_sol)
    size = jnp.maximum(jnp.abs(theta), jnp.abs(end))
    level = memory.atol + rtol * size
    mean = lambda v: jnp.sqrt(jnp.mean((v / level) ** 2))
    error = jnp.where(memory.is_new, 0, mean(weights(tableau.b_error)))
    cost = jnp.int32(len(tableau.b_sol) - 1)

    def path(at):
        zero, one = jnp.zeros_like(at), jnp.ones_like(at)
        between: Any = solver.interpolation_cls
        inside = between(t0=zero, t1=one, y0=theta, y1=end, k=length * stages)
        return inside.evaluate(at)

    none = jnp.int32(0)
    stay = Arrival(
        theta=theta,
        fraction=jnp.ones_like(length),
        is_above=memory.is_above,
        slots=memory.slots,
        field=stages[-1],
        z=z_end,
        kink=jnp.zeros_like(theta),
        is_alone=jnp.array(False),
        stuck=none,
        evaluations=cost,
        crossings=none,
        slides=none,
        releases=none,
        choices=none,
        has_no_slot=jnp.array(False),
        events=no_step_events(memory.is_above, len(memory.slots.entry), theta.dtype)
        if records_events
        else None,
    )
    is_good = error <= 1
    arrival = once(
        is_good,
        lambda stay: arrived_at(sample, theta, memory, length, path, end, stay, most),
        stay,
    )
    error = jnp.where(jnp.isfinite(error), error, jnp.inf)
    stiffness = stiffness_of(theta, length, stages, tableau)
    kink = _of_step(sample, theta, memory, arrival, mean)
    return Attempt(arrival, error, mean(kink), stiffness)


def _of_step(
    sample: GatedSample,
    theta: Float[Array, " p"],
    memory: DeepMemory,
    arrival: Arrival,
    mean: Callable[[Float[Array, " p"]], Float[Array, ""]],
) -> Float[Array, " p"]:
    """The error of crossings, without that of pins which are off 0 at the beginning.

    A decision may flip units whose z is not quite 0, and so move the pins behind them.
    To bring these back is no error of this step: it would be rejected at every length.
    """

    def moved(kink: Float[Array, " p"]) -> Float[Array, " p"]:
        back = back_to_pins(sample, theta, memory.is_above, memory.slots)
        off = jnp.abs(back - theta)
        return jnp.where(mean(off) > 1, jnp.maximum(kink - off, 0), kink)

    return once(mean(arrival.kink) > 1, moved, arrival.kink)
