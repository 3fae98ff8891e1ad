"""A convolutional network whose layers are products of linear layers."""

import dataclasses
from typing import ClassVar, Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.core import AbstractNetwork, Buffer, Index
from simbias.errors import BadInput
from simbias.networks import Convolutional, layer_weights
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integer

Start = Literal["gaussian", "orthogonal"]
# One factor of a layer of o outputs, o × o.
Square = Float[Array, "_ _"]


class Factored(AbstractNetwork):
    """`core` with Q_{F−1} ⋯ Q_1 K in the place of every kernel or matrix K.

    The Q are o × o for a layer of o outputs; after a convolution they are 1 × 1
    convolutions.  So a layer is F linear layers with the bias after the last, and
    `folded` multiplies them out to one.  Factors from number F − 1 on are not used.
    """

    core: Convolutional
    factors: tuple[tuple[Square, ...], ...]
    used: Buffer

    has_kinks: ClassVar[bool] = True  # ReLU

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.folded()(x)

    def features(self, x: Float[Array, " d"]) -> Float[Array, " p"]:
        """Inputs of the last layer."""
        return self.folded().features(x)

    def folded(self) -> Convolutional:
        """The same function with the factors of every layer multiplied out."""
        *convolutions, dense, last = map(self._product, self.factors)
        kernels = [
            jnp.einsum("op,pihw->oihw", q, kernel)
            for q, kernel in zip(convolutions, self.core.kernels, strict=True)
        ]
        w, a = dense @ self.core.w, last @ self.core.a
        return dataclasses.replace(self.core, kernels=tuple(kernels), w=w, a=a)

    def _product(self, factors: tuple[Square, ...]) -> Square:
        one = jnp.eye(len(factors[0]), dtype=factors[0].dtype)
        product = one
        for i, factor in enumerate(factors):
            product = jnp.where(i + 1 < self.used.value, factor, one) @ product
        return product


def factored(
    key: PRNGKeyArray,
    core: Convolutional,
    *,
    factors: Index,
    most: int,
    start: Start = "gaussian",
) -> Factored:
    """The network with `factors` linear layers in the place of every layer.

    Args:
        key: random key of the further factors.
        core: the network of the first factors; the result itself if F = 1.
        factors: F.
        most: the largest F, 2 or more; as many factors are drawn.
        start: law of the further factors: "gaussian", N(0, 1/o), or "orthogonal".

    Raises:
        ValueError: for a name that is not known, or a number out of range.
    """
    one_of("start", start, get_args(Start))
    positive_integer("most", most)
    if most < 2:
        raise BadInput(f"`most` must be 2 or more, got {most}. Example: most=4.")
    if isinstance(factors, int) and not 1 <= factors <= most:
        raise BadInput(f"`factors` must be from 1 to most = {most}, got {factors}.")
    law = "orthogonal" if start == "orthogonal" else "lecun"
    layers = [*core.kernels, core.w, core.a]
    keys = jax.random.split(key, len(layers))
    drawn = [
        layer_weights(key_layer, (len(layer),) * most, law)
        for key_layer, layer in zip(keys, layers, strict=True)
    ]
    return Factored(core, tuple(drawn), Buffer(_float(factors)))


def _float(number: Index) -> Float[Array, ""]:
    value: Int[Array, ""] = jnp.asarray(number)
    return value.astype(jnp.float64)
