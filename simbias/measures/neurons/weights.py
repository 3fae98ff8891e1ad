"""Weights of the neurons, their norm, and what gradient flow conserves in them."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.trained_arrays import split_trained
from simbias.measures._neurons import incoming


class IncomingWeights(AbstractMeasure):
    """Incoming weights wⱼ of the hidden neurons of a two-layer network, without biases.

    As large as the network: record it at the end, or for few neurons.
    """

    dims: ClassVar[tuple[str, ...]] = ("neuron", "input")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "m d"]:
        """One row for each neuron."""
        return network.w


class ParameterNorm(AbstractMeasure):
    """Half the squared norm of all trained parameters, ½‖θ‖²; of any network.

    For a balanced two-layer network it equals Σⱼ |aⱼ|‖wⱼ‖, and at a minimum-norm
    interpolator the variation norm of the function.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939,
    theorem 1.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """½‖θ‖², in units of weight squared."""
        leaves = jax.tree.leaves(split_trained(network)[0])
        return jnp.sum(jnp.stack([jnp.sum(v**2) for v in leaves])) / 2


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
