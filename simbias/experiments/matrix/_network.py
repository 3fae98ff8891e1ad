"""A network whose function is 0 at the start, rich or lazy by one number."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Buffer
from simbias.experiments.matrix._settings import GAIN, HIDDEN, D, Setting
from simbias.networks.activations import Activation, has_kink, identity
from simbias.networks.dense.layer_weights import Matrix, layer_weights

_FUNCTIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "linear": identity}


class Scaled(AbstractNetwork):
    """f(x) = α [h(x; W/α) − h(x; W(0)/α)], h a network without biases.

    W(0) = α W₀ with W₀ of the usual law: all α have the same tangent kernel at the
    start, under gradient descent and Adam alike, and so the same clock.  A small α is
    rich: the weights must move far to fit; a large one is lazy.  f = 0 at the start.

    With `top` = 1 the last hidden layer is linear, as the theory of low rank asks for;
    it is a number so that all tasks share a program.

    Reference: Chizat, Oyallon & Bach (2019), arXiv:1812.07956.
    """

    weights: tuple[Matrix, ...]
    first: tuple[Buffer, ...]
    gain: Buffer
    top: Buffer
    activation: Activation = eqx.field(static=True)

    @property
    def has_kinks(self) -> bool | None:
        """As the activation says."""
        return has_kink(self.activation)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output for one input."""
        first = tuple(w.value for w in self.first)
        now, then = (
            weights[-1] @ self._hidden(weights, x)[-1]
            for weights in (self.weights, first)
        )
        # The output is linear in the last matrix: α · W/α.
        return now - then

    def activations(self, x: Float[Array, " d"]) -> tuple[Float[Array, " _"], ...]:
        """The hidden layers of one input."""
        return self._hidden(self.weights, x)

    def _hidden(
        self, weights: tuple[Matrix, ...], x: Float[Array, " d"]
    ) -> tuple[Float[Array, " _"], ...]:
        out = []
        for w in weights[:-1]:
            z = w @ x / self.gain.value
            x = self.activation(z)
            out.append(x)
        out[-1] = self.top.value * z + (1 - self.top.value) * out[-1]
        return tuple(out)


def scaled(key: PRNGKeyArray, setting: Setting, *, is_top_linear: bool) -> Scaled:
    """The network of a setting: Kaiming's law for ReLU, LeCun's for the others."""
    law = "kaiming" if setting.activation == "relu" else "lecun"
    gain = GAIN[setting.start]
    drawn = layer_weights(key, (D, *HIDDEN[setting.shape], 1), law)
    weights = tuple(gain * w for w in drawn)
    number = lambda v: Buffer(jnp.asarray(v, jnp.float64))
    return Scaled(
        weights,
        tuple(Buffer(w) for w in weights),
        number(gain),
        number(float(is_top_linear)),
        _FUNCTIONS[setting.activation],
    )
