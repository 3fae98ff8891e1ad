"""A single neuron whose moment M is given: w' = P Mᵀa − μw, and a' = M w − μa or 0."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.flows._relu.frozen_field import Sample, neuron_decay, output_rates
from simbias.flows._relu.sliding import project


class Point(NamedTuple):
    """Weights of every neuron and their velocities, at one time per neuron."""

    w: Float[Array, "c e"]
    a: Float[Array, "c k"]
    dw: Float[Array, "c e"]
    da: Float[Array, "c k"]


def mix(
    t: Float[Array, " c"], early: Float[Array, "c k e"], late: Float[Array, "c k e"]
) -> Float[Array, "c k e"]:
    """Moments at time t."""
    t = t[:, None, None]
    return (1 - t) * early + t * late


def point(
    w: Float[Array, "c e"],
    a: Float[Array, "c k"],
    moment: Float[Array, "c k e"],
    normals: Float[Array, "c p e"],
    dual: Float[Array, "c p e"],
    sample: Sample,
) -> Point:
    """A point with its velocities."""
    return Point(w, a, *velocity(w, a, moment, normals, dual, sample))


def displacement(
    there: Point,
    early: Float[Array, "c k e"],
    late: Float[Array, "c k e"],
    left: Float[Array, " c"],
    normals: Float[Array, "c p e"],
    dual: Float[Array, "c p e"],
    sample: Sample,
) -> tuple[Float[Array, "c e"], Float[Array, "c k"]]:
    """Displacement under moments linear in time (classical RK4)."""
    h = left[:, None]
    middle = (early + late) / 2
    at = lambda dw, da, moment: velocity(
        there.w + dw, there.a + da, moment, normals, dual, sample
    )
    p1, q1 = at(0.0, 0.0, early)
    p2, q2 = at(h / 2 * p1, h / 2 * q1, middle)
    p3, q3 = at(h / 2 * p2, h / 2 * q2, middle)
    p4, q4 = at(h * p3, h * q3, late)
    return h / 6 * (p1 + 2 * p2 + 2 * p3 + p4), h / 6 * (q1 + 2 * q2 + 2 * q3 + q4)


def velocity(
    w: Float[Array, "c e"],
    a: Float[Array, "c k"],
    moment: Float[Array, "c k e"],
    normals: Float[Array, "c p e"],
    dual: Float[Array, "c p e"],
    sample: Sample,
) -> tuple[Float[Array, "c e"], Float[Array, "c k"]]:
    drive = jnp.sum(a[:, :, None] * moment, axis=1)
    da = output_rates(moment * w[:, None, :], sample.is_output_frozen, axis=2)
    return neuron_decay(project(drive, normals, dual), da, w, a, sample)
