"""Whether the product of the layers moves as a function of itself alone."""

import functools
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset, Loss
from simbias.losses import half_mse
from simbias.numerics.end_to_end import end_to_end


class EndToEndError(AbstractMeasure):
    """How far layers are from the end-to-end law: in velocity, in descent.

    `velocity`: |Ẇ + ψ(∇)|/|Ẇ|, Frobenius, with Ẇ = −Σⱼ W_N ⋯ W_{j+1} ∇ⱼ W_{j−1} ⋯ W_1
    from the gradients ∇ⱼ of the layers, and ψ of `end_to_end`.  `descent`: the same of
    dL/dt, |Σⱼ |∇ⱼ|² − ⟨∇, ψ(∇)⟩| over Σⱼ |∇ⱼ|².  Both are 0 for balanced layers.  Needs
    a network with `weights`; NaN where nothing moves.

    Reference: Arora, Cohen & Hazan (2018), arXiv:1802.06509.
    """

    loss: Loss = eqx.field(static=True, default=half_mse)
    dims: ClassVar[tuple[str, ...]] = ("law",)
    entries: ClassVar = {"law": ("velocity", "descent")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " 2"]:
        """Both, relative."""
        weights = network.weights
        through = lambda w: self.loss(data.x @ w.T, data.y, data.weight)
        of_layers = lambda weights: through(product(weights))
        parts = jax.grad(of_layers)(weights)
        _, change = jax.jvp(product, (weights,), (parts,))
        gradient = jax.grad(through)(product(weights))
        law = end_to_end(product(weights), gradient, len(weights))
        seen = sum(jnp.sum(part**2) for part in parts)
        velocity = jnp.linalg.norm(change - law) / jnp.linalg.norm(change)
        return jnp.stack([velocity, jnp.abs(seen - jnp.sum(gradient * law)) / seen])


def product(weights: tuple[Float[Array, "_ _"], ...]) -> Float[Array, "k d"]:
    """W_N ⋯ W_1."""
    return functools.reduce(lambda total, w: w @ total, weights)
