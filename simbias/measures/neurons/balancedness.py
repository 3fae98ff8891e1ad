"""The quantity that exact gradient flow conserves in every neuron."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import incoming


class Balancedness(AbstractMeasure):
    """Balance |aⱼ|² − ‖wⱼ‖² of every neuron; a hidden bias is a coordinate of wⱼ.

    Constant in time under the exact gradient flow of a homogeneous network (identity,
    ReLU, leaky ReLU) for any loss, so its drift tells of the integrator (not of
    `ReluFlow`, which projects back to it after every step).  Not conserved for tanh or
    GELU; for φ(h) = h² it is 2|aⱼ|² − ‖wⱼ‖² that is.

    Reference: Du, Hu & Lee (2018), arXiv:1806.00900, theorem 2.1.
    """

    dims: ClassVar[tuple[str, ...]] = ("neuron",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " m"]:
        """|aⱼ|² − ‖wⱼ‖², in units of weight squared."""
        return jnp.sum(network.a**2, axis=1) - jnp.sum(incoming(network) ** 2, axis=1)
