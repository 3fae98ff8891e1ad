"""The deep linear network: a product of matrices."""

import functools
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.errors import BadInput
from simbias.networks.dense.layer_weights import LayerLaw, Matrix, layer_weights
from simbias.validation.values import positive


class DeepLinear(AbstractNetwork):
    """f(x) = W_N ⋯ W_1 x.

    `frozen` names what is not trained: "weights.0" is W_1.
    """

    weights: tuple[Matrix, ...]
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    def __check_init__(self):
        shapes = [w.shape for w in self.weights]
        is_chain = all(b[1] == a[0] for a, b in zip(shapes, shapes[1:], strict=False))
        if not shapes or not is_chain:
            raise BadInput(
                "`weights` must be a chain of matrices, each with as many columns as "
                f"the one before has rows, got {shapes}."
            )

    has_kinks: ClassVar[bool] = False  # the output is a polynomial of the weights

    @property
    def product(self) -> Float[Array, "k d"]:
        """W_N ⋯ W_1, the matrix that the network is."""
        return functools.reduce(lambda total, w: w @ total, self.weights)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.activations(x)[-1]

    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """What the last matrix acts on."""
        return (x, *self.activations(x))[-2]

    def activations(self, x: Float[Array, " d"]) -> tuple[Float[Array, " _"], ...]:
        """W_1 x, W_2 W_1 x, …, the last of them the output."""
        out = []
        for w in self.weights:
            x = w @ x
            out.append(x)
        return tuple(out)


def deep_linear(
    key: PRNGKeyArray,
    widths: tuple[int, ...],
    *,
    law: LayerLaw = "balanced",
    scale: Real = 1.0,
) -> DeepLinear:
    """A deep linear network with the initial law of a name, times `scale` each matrix.

    Args:
        key: random key.
        widths: sizes of input, hidden layers and output.
        law: "balanced" (W_{j+1}ᵀ W_{j+1} = W_j W_jᵀ), "orthogonal", "glorot",
            "kaiming", "lecun" or "torch"; see `layer_weights`.
        scale: factor of every matrix; that of the product is its N-th power.

    Raises:
        ValueError: for a size, name or number out of range.
    """
    positive("scale", scale)
    factor = jnp.asarray(scale, jnp.float64)
    return DeepLinear(tuple(factor * w for w in layer_weights(key, widths, law)))
