"""Networks of equally wide layers of which a number is used, and chains of matrices."""

from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.core import AbstractNetwork, Index, Real
from simbias.errors import BadInput
from simbias.networks import identity
from simbias.networks.activations import ACTIVATIONS, Activation
from simbias.networks.dense.layer_weights import LayerLaw, layer_weights
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integers

Kind = Literal["linear", "relu", "tanh", "orthogonal"]
# Law of the start and activation.
_KINDS: dict[str, tuple[LayerLaw, str]] = {
    "linear": ("lecun", "identity"),
    "relu": ("kaiming", "relu"),
    "tanh": ("lecun", "tanh"),
    "orthogonal": ("orthogonal", "identity"),
}
KINDS = get_args(Kind)


class Stack(AbstractNetwork):
    """f(x) = A h_N,  h_l = φ(W_l h_{l−1}),  h₀ = x, with the first N of the layers.

    The output does not depend on layers beyond the N-th.
    """

    weights: Float[Array, "layer m m"]
    head: Float[Array, "k m"]
    depth: Int[Array, ""]
    activation: Activation = eqx.field(static=True)

    def __call__(self, x: Float[Array, " m"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.head @ self.features(x)

    @property
    def product(self) -> Float[Array, "k m"]:
        """A W_N ⋯ W_1, the map of a stack of linear layers."""
        return jax.vmap(self)(jnp.eye(self.head.shape[1], dtype=self.head.dtype)).T

    def features(self, x: Float[Array, " m"]) -> Float[Array, " m"]:
        """h_N, the input of the last matrix."""

        def layer(h, place):
            w, number = place
            return jnp.where(number < self.depth, self.activation(w @ h), h), None

        numbers = jnp.arange(self.weights.shape[0], dtype=jnp.int32)
        return jax.lax.scan(layer, x, (self.weights, numbers))[0]


def stack(
    key: PRNGKeyArray, *, kind: str, depth: Index, most: int, m: int, k: int
) -> Stack:
    """`depth` layers m × m, of `most` that are drawn, and a last layer to k outputs.

    "linear" and "tanh" start from N(0, 1/m), "relu" from N(0, 2/m), "orthogonal", which
    is linear, from orthogonal matrices; the last layer has the same law.

    Raises:
        ValueError: for a kind that is not known, or a size out of range.
    """
    one_of("kind", kind, KINDS)
    positive_integers(most=most, m=m, k=k)
    if isinstance(depth, int) and not 1 <= depth <= most:
        raise BadInput(
            f"`depth` must be from 1 to {most}, the layers that are drawn (`most`), "
            f"got {depth}. Example: depth={most}."
        )
    law, activation = _KINDS[kind]
    *hidden, head = layer_weights(key, (*[m] * (most + 1), k), law)
    number = jnp.asarray(depth, jnp.int32)
    return Stack(jnp.stack(hidden), head, number, ACTIVATIONS[activation])


def chain(
    key: PRNGKeyArray, *, depth: Index, most: int, m: int, scale: Real = 1.0
) -> Stack:
    """The map W_N ⋯ W_1 of N = `depth` matrices m × m with entries N(0, scale²/m).

    `most` matrices are drawn; the first ones and the last do not depend on the depth.

    Raises:
        ValueError: for a size or number out of range.
    """
    positive_integers(most=most, m=m)
    positive("scale", scale)
    if isinstance(depth, int) and not 1 <= depth <= most:
        raise BadInput(
            f"`depth` must be from 1 to {most}, the matrices that are drawn (`most`), "
            f"got {depth}. Example: depth={most}."
        )
    factor = jnp.asarray(scale, jnp.float64)
    head, *others = (factor * w for w in layer_weights(key, (m,) * (most + 1), "lecun"))
    # At least one layer, which a chain of one matrix does not use.
    hidden = jnp.stack(others or [jnp.zeros((m, m), jnp.float64)])
    return Stack(hidden, head, jnp.asarray(depth, jnp.int32) - 1, identity)
