"""A network that is trained on inputs with noise."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PRNGKeyArray

from simbias.core import AbstractWrapper, Buffer, Loss, Real
from simbias.introspection.training import (
    output_in_training,
    outputs_in_training,
    trained_on,
)
from simbias.validation.values import not_negative
from simbias.wrapper import if_inner_has

_Keys = Key[Array, " n"]


class Noisy(AbstractWrapper):
    """The same function as `inner`, trained on x + σ ξ with ξ ~ N(0, I).

    Every row of every step has noise of its own.  Dropout, batch normalisation and a
    gradient of its own of `inner` act on the inputs with noise.  Measures see the
    function without noise.  `deviation` holds σ and is not trained.
    """

    inner: Any
    deviation: Buffer

    def in_training(
        self, x: Float[Array, " d"], key: PRNGKeyArray
    ) -> Float[Array, " k"]:
        """Output of `inner` in training, for one input with noise."""
        return output_in_training(self.inner, *self._shifted(x, key))

    @if_inner_has("on_sample")
    def on_sample(
        self, x: Float[Array, "n d"], weight: Float[Array, " n"], keys: _Keys
    ) -> tuple[Float[Array, "n k"], "Noisy"]:
        """Outputs of `inner` on inputs with noise, and the network as it moves on."""
        x, keys = jax.vmap(self._shifted)(x, keys)
        outputs, moved = outputs_in_training(self.inner, x, weight, keys)
        return outputs, Noisy(moved, self.deviation)

    @if_inner_has("value_and_gradient")
    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
        keys: _Keys,
    ) -> tuple[Float[Array, ""], "Noisy"]:
        """Loss on inputs with noise, and the gradient that `inner` has there."""
        x, keys = jax.vmap(self._shifted)(x, keys)
        value, gradient, _ = trained_on(self.inner, loss, x, y, weight, keys)
        return value, Noisy(gradient, self.deviation)

    def _shifted(
        self, x: Float[Array, " d"], key: PRNGKeyArray
    ) -> tuple[Float[Array, " d"], PRNGKeyArray]:
        """The input with noise, and the key for `inner`."""
        key_noise, key_inner = jax.random.split(key)
        noise = jax.random.normal(key_noise, x.shape, x.dtype)
        return x + self.deviation.value.astype(x.dtype) * noise, key_inner


def noisy(network: Any, deviation: Real) -> Noisy:
    """A network to be trained on inputs with noise of a standard deviation.

    Raises:
        ValueError: for a deviation that is negative or not finite.
    """
    not_negative("deviation", deviation)
    return Noisy(network, Buffer(jnp.asarray(deviation, jnp.float64)))
