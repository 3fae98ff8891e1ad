"""A network that is trained on inputs with noise."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.checks.values import not_negative
from simbias.core import AbstractNetwork, Buffer, Real


class Noisy(AbstractNetwork):
    """The same function as `inner`, trained on x + σ ξ with ξ ~ N(0, I).

    The noise is drawn anew for every row in every step; measures see the function
    without.  `deviation` holds σ and is not trained.
    """

    inner: AbstractNetwork
    deviation: Buffer

    @property
    def has_kinks(self) -> bool | None:
        """As the network that is trained says, None if it does not."""
        return getattr(self.inner, "has_kinks", None)

    @property
    def features(self) -> Any:
        """Those of the network that is trained, None if it has none."""
        return getattr(self.inner, "features", None)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input, without noise."""
        return self.inner(x)

    def in_training(
        self, x: Float[Array, " d"], key: PRNGKeyArray
    ) -> Float[Array, " k"]:
        """Output for one input with noise, and with that of `inner` if it draws too."""
        key_noise, key_inner = jax.random.split(key)
        noise = jax.random.normal(key_noise, x.shape, x.dtype)
        x = x + self.deviation.value.astype(x.dtype) * noise
        inner = getattr(self.inner, "in_training", None)
        return self.inner(x) if inner is None else inner(x, key_inner)


def noisy(network: Any, deviation: Real) -> Noisy:
    """A network to be trained on inputs with noise of a standard deviation.

    Raises:
        ValueError: for a deviation that is negative or not finite.
    """
    not_negative("deviation", deviation)
    return Noisy(network, Buffer(jnp.asarray(deviation, jnp.float64)))
