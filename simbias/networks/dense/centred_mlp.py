"""A fully connected network that is 0 at the start, rich or lazy by one number."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Buffer, Real
from simbias.errors import BadInput
from simbias.networks.activations import ACTIVATIONS, Activation, has_kink
from simbias.networks.dense.layer_weights import LayerLaw, Matrix, layer_weights
from simbias.validation.sample import one_of
from simbias.validation.values import positive


class CentredMlp(AbstractNetwork):
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

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
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


def centred_mlp(
    key: PRNGKeyArray,
    widths: tuple[int, ...],
    *,
    gain: Real = 1.0,
    law: LayerLaw = "kaiming",
    activation: str = "relu",
    is_top_linear: bool = False,
) -> CentredMlp:
    """A network that is 0 at the start.

    Args:
        key: random key.
        widths: sizes of input, hidden layers and output.
        gain: α.
        law: of W₀, see `layer_weights`.
        activation: of the hidden layers, by name.
        is_top_linear: whether the last hidden layer has none.

    Raises:
        ValueError: for a size, name or number out of range.
    """
    one_of("activation", activation, tuple(ACTIVATIONS))
    positive("gain", gain)
    if len(widths) < 3:
        raise BadInput(f"`widths` must have a hidden layer, got {widths}.")
    weights = tuple(gain * w for w in layer_weights(key, widths, law))
    number = lambda v: Buffer(jnp.asarray(v, jnp.float64))
    return CentredMlp(
        weights,
        tuple(Buffer(w) for w in weights),
        number(gain),
        number(float(is_top_linear)),
        ACTIVATIONS[activation],
    )
