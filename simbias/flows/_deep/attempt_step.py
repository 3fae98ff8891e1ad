"""One attempted step of the exact flow of a deep network."""

from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep import tolerances
from simbias.flows._deep.decision import Decision, decide
from simbias.flows._deep.events import first_crossing, first_release
from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.memory import DeepMemory
from simbias.flows._deep.once import once
from simbias.flows._deep.sliding import back_to_pins, field, marked, scales

# Without time between events, fields are compared this share of a step ahead, and ten
# times as far each time that this did not help.
_AHEAD = 1e-6
# An event after a smaller share of the step than this took no time.
_NO_TIME = 1e-11


class Arrival(NamedTuple):
    """Where an attempt ends, after how much of its step, and what was counted."""

    theta: Float[Array, " p"]
    fraction: Float[Array, ""]
    is_above: Bool[Array, "n u"]
    slots: Any
    field: Float[Array, " p"]
    z: Float[Array, "n u"]
    stuck: Int[Array, ""]
    evaluations: Int[Array, ""]
    crossings: Int[Array, ""]
    slides: Int[Array, ""]
    releases: Int[Array, ""]
    choices: Int[Array, ""]
    is_full: Bool[Array, ""]


class Attempt(NamedTuple):
    """The arrival, and the error of the whole step in units of the tolerance."""

    arrival: Arrival
    error: Float[Array, ""]


def attempt_step(
    sample: GatedSample,
    theta: Float[Array, " p"],
    memory: DeepMemory,
    length: Float[Array, ""],
    rtol: Float[Array, ""],
    solver: diffrax.AbstractERK,
    most: int,
) -> Attempt:
    """Integrate with fixed gates, and stop at the first event to decide what follows.

    A new member decides at its start and takes no time.
    """
    stages, z_end = _stages(sample, theta, memory, length, solver)
    weights = lambda row: length * jnp.asarray(row, theta.dtype) @ stages
    tableau: Any = solver.tableau
    end = theta + weights(tableau.b_sol)
    size = jnp.maximum(jnp.abs(theta), jnp.abs(end))
    error = weights(tableau.b_error) / (memory.atol + rtol * size)
    error = jnp.sqrt(jnp.mean(error**2))
    error = jnp.where(memory.is_new, 0, error)
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
        stuck=none,
        evaluations=cost,
        crossings=none,
        slides=none,
        releases=none,
        choices=none,
        is_full=jnp.array(False),
    )
    is_good = error <= 1
    arrival = once(
        is_good,
        lambda stay: _arrived(
            sample, theta, memory, length, path, end, z_end, stay, most
        ),
        stay,
    )
    return Attempt(arrival, jnp.where(jnp.isfinite(error), error, jnp.inf))


def _stages(
    sample: GatedSample,
    theta: Float[Array, " p"],
    memory: DeepMemory,
    length: Float[Array, ""],
    solver: diffrax.AbstractERK,
) -> tuple[Float[Array, "k p"], Float[Array, "n u"]]:
    """The field at all stages, and the pre-activations at the last one, the end."""
    tableau: Any = solver.tableau
    number = len(tableau.b_sol)
    lower = np.zeros((number, number))
    for i, row in enumerate(tableau.a_lower):
        lower[i + 1, : i + 1] = row
    lower = jnp.asarray(lower, theta.dtype)

    def body(i, carry):
        stages, _ = carry
        here = theta + length * lower[i] @ stages
        new, z = field(sample, here, memory.is_above, memory.slots)
        return stages.at[i].set(new), z

    stages = jnp.zeros((number, theta.shape[0]), theta.dtype).at[0].set(memory.field)
    return jax.lax.fori_loop(1, number, body, (stages, memory.z))


def _arrived(
    sample: GatedSample,
    theta: Float[Array, " p"],
    memory: DeepMemory,
    length: Float[Array, ""],
    path: Any,
    end: Float[Array, " p"],
    z_end: Float[Array, "n u"],
    stay: Arrival,
    most: int,
) -> Arrival:
    """The end of the step, or the first event in it and what was decided there."""
    is_above, slots, is_new = memory.is_above, memory.slots, memory.is_new
    crossing = first_crossing(sample, path, is_above, slots, memory.z, z_end)
    release = first_release(sample, path, is_above, slots, crossing.fraction)
    is_event = is_new | crossing.is_one | release.is_one
    fraction = jnp.where(is_new, 0, jnp.minimum(crossing.fraction, release.fraction))
    there = jnp.where(is_event, path(fraction), end)
    there = jnp.where(is_new, theta, there)
    there = back_to_pins(sample, there, is_above, slots)
    is_stuck = is_event & ~is_new & (fraction < _NO_TIME)
    stuck = jnp.where(is_stuck, memory.stuck + 1, 0)
    power = _AHEAD * 10.0 ** (stuck - 1).astype(theta.dtype)
    ahead = jnp.where(is_stuck, length * power, 0) * memory.field
    met = crossing.is_one & ~release.is_one & ~is_new
    arrived = stay._replace(
        theta=there,
        fraction=jnp.where(is_event, fraction, 1),
        stuck=stuck.astype(jnp.int32),
        evaluations=stay.evaluations + release.evaluations,
    )

    def decided(arrived: Arrival) -> Arrival:
        pinned = marked(slots.entry, slots.is_used, is_above)
        scale = scales(sample, is_above, pinned)
        _, z = sample.outputs(there, scale)
        tolerance = tolerances.of_surface(theta.dtype)
        limit = tolerance * tolerances.layer_sizes(sample, z)
        is_off = jnp.where(is_above, z < -limit[None], z > limit[None]) & ~pinned
        forced = is_off.reshape(-1).at[crossing.entry].max(met).reshape(is_off.shape)
        new: Decision = decide(sample, there, is_above, slots, forced & ~is_new, ahead)
        return Arrival(
            theta=there,
            fraction=arrived.fraction,
            is_above=new.is_above,
            slots=new.slots,
            field=new.field,
            z=z,
            stuck=arrived.stuck,
            evaluations=arrived.evaluations + new.evaluations,
            crossings=new.crossings,
            slides=new.slides,
            releases=new.releases,
            choices=new.choices + (arrived.stuck > 0).astype(jnp.int32),
            is_full=new.is_full | (jnp.sum(new.slots.is_used) > most),
        )

    return once(is_event, decided, arrived)
