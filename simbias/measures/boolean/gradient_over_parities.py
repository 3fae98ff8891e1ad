"""How the gradient depends on which parity is learned."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.trained_arrays import split_trained
from simbias.numerics.tiling import ROWS
from simbias.numerics.walsh_hadamard import walsh_coefficients
from simbias.validation.values import positive_integer


class GradientOverParities(AbstractMeasure):
    """Variance over all subsets I of D_I = ∂/∂w E(f − χ_I)², for some weights w.

    The sample must be all of `cube(d)`.  By name: `variance` of D_I; `bound`, E g²/2ᵈ
    with g = ∂f/∂w; `single`, the variance of D_I over the d subsets of one bit.

    Args:
        count: weights, evenly spaced over all of the network.

    Reference: Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950, theorem 1.
    """

    count: int = eqx.field(static=True, default=16)
    dims: ClassVar[tuple[str, ...]] = ("weight", "fact")
    entries: ClassVar = {"fact": ("variance", "bound", "single")}

    def __check_init__(self):
        positive_integer("count", self.count)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "w 3"]:
        """By weight and name; the weights of the sample are not used."""
        params, rest = split_trained(network)
        flat, unravel = jax.flatten_util.ravel_pytree(params)
        chosen = np.linspace(0, flat.size - 1, self.count).round().astype(int)

        def one(x: Float[Array, " d"]) -> tuple[Array, Array]:
            value = lambda flat: eqx.combine(unravel(flat), rest)(x)[0]
            f, gradient = jax.value_and_grad(value)(flat)
            return f, gradient[chosen]

        f, g = jax.lax.map(one, data.x, batch_size=ROWS // 4)
        points, d = data.x.shape
        correlations = walsh_coefficients(g)
        same = jnp.mean(f[:, None] * g, axis=0, keepdims=True)
        derivative = 2 * same - 2 * correlations
        energy = jnp.mean(g**2, axis=0)
        single = derivative[2 ** np.arange(d)]
        facts = (  # in the order of `coords`
            jnp.var(derivative, axis=0),
            energy / points,
            jnp.var(single, axis=0),
        )
        return jnp.stack(facts, axis=1)
