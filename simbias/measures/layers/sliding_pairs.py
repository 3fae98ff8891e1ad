"""How many pre-activations are kept at 0."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.precision import matmul
from simbias.validation.values import not_negative


class SlidingPairs(AbstractMeasure):
    """Number of pairs of a hidden neuron and a sample with |z| ≤ tolerance · size.

    z = w·h + b with the inputs h of the neuron, and size = ‖w‖‖h‖ + |b|.  Where all
    inputs are 0 and there is no bias, z is 0 whatever the weights are: not counted.
    `DeepReluFlow` keeps a sliding pre-activation at 0 to rounding.  Needs a network
    with `weights`, `biases` and `activations`, such as `Mlp`.

    Args:
        tolerance: relative; 1e-5 in float32.
    """

    tolerance: float = eqx.field(static=True, default=1e-9)

    def __check_init__(self):
        not_negative("tolerance", self.tolerance)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """A whole number."""
        hidden = jax.vmap(network.activations)(data.x)
        is_real = (data.weight > 0)[:, None]
        count = jnp.zeros((), data.x.dtype)
        layers = zip(
            network.weights, network.biases, (data.x, *hidden[:-1]), strict=False
        )
        for w, b, h in layers:
            z, size = matmul(h, w.T), _norms(h)[:, None] * _norms(w)[None, :]
            if b is not None:
                z, size = z + b[None, :], size + jnp.abs(b)[None, :]
            is_held = (jnp.abs(z) <= self.tolerance * size) & (size > 0) & is_real
            count = count + jnp.sum(is_held).astype(count.dtype)
        return count


def _norms(rows: Float[Array, "n d"]) -> Float[Array, " n"]:
    return jnp.linalg.norm(rows, axis=1)
