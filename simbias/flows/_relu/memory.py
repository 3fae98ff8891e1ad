"""What a step of the exact flow hands on to the next one."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

from simbias.flows._relu.events import Log
from simbias.flows._relu.frozen_field import Sample
from simbias.flows._relu.neuron_state import NeuronState
from simbias.flows._relu.noninteracting.follow import noninteracting_length
from simbias.flows._relu.smooth_step import Stiffness
from simbias.numerics.planes import Planes

# Noninteracting steps are taken if they are so much longer than the others.
_WORTH = 2


class ReluMemory(eqx.Module):
    """What a step needs from those before it.

    `trust` is a factor on the length of noninteracting steps, quartered when one is
    rejected; None if no such steps are taken.
    """

    planes: Planes
    length: Float[Array, ""]
    neurons: NeuronState
    controller: PyTree
    has_overflowed: Bool[Array, ""]
    stiffness: Stiffness | None
    trust: Float[Array, ""] | None
    log: Log | None


def next_length(
    memory: ReluMemory, sample: Sample, rtol: Float[Array, ""]
) -> tuple[Float[Array, ""], Bool[Array, ""]]:
    """Length of the next step, and whether it is a noninteracting one."""
    if memory.trust is None:
        return memory.length, jnp.array(False)
    noninteracting = noninteracting_length(memory.neurons, sample, rtol) * memory.trust
    noninteracting = noninteracting.astype(memory.length.dtype)
    is_noninteracting = noninteracting > _WORTH * memory.length
    return jnp.where(
        is_noninteracting, noninteracting, memory.length
    ), is_noninteracting
