"""A Runge–Kutta step with fixed gates: its stages, and how stiff the field is."""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.flows._deep.gated_sample import GatedSample
from simbias.flows._deep.memory import DeepMemory
from simbias.flows._deep.sliding import field


def stages_of(
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


def stiffness_of(
    theta: Float[Array, " p"],
    length: Float[Array, ""],
    stages: Float[Array, "k p"],
    tableau: Any,
) -> Float[Array, ""]:
    """|k − k'|/|θ − θ'| of the last two stages, both at the end of the step.

    Their difference is mostly along the stiffest direction; 0 if it is of rounding
    size.

    Reference: Hairer & Wanner (1996), Solving Ordinary Differential Equations II,
    section IV.2.
    """
    last, before = (np.array(row, float) for row in tableau.a_lower[:-3:-1])
    if tableau.c[-2] != 1:
        return jnp.zeros_like(length)
    apart = last - np.append(before, 0.0)
    weights = jnp.asarray(np.append(apart, 0.0), theta.dtype)
    distance = length * jnp.linalg.norm(weights @ stages)
    change = jnp.linalg.norm(stages[-1] - stages[-2])
    least = 1000 * jnp.finfo(theta.dtype).eps * jnp.linalg.norm(theta)
    is_known = distance > least
    return jnp.where(is_known, change / jnp.where(is_known, distance, 1), 0)
