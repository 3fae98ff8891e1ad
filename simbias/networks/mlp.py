"""The fully connected network of any depth."""

import equinox as eqx
import jax
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork
from simbias.errors import BadInput
from simbias.networks.activations import Activation, has_kink


class Mlp(AbstractNetwork):
    """f(x) = c (W_L h_{L−1} + b_L),  h_l = φ(W_l h_{l−1} + b_l),  h₀ = x.

    L − 1 hidden layers.  `factor` is c, not trained; 1 for a network as usual.
    """

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    activation: Activation = eqx.field(static=True, default=jax.nn.relu)
    factor: float = eqx.field(static=True, default=1.0)

    def __check_init__(self):
        if not self.weights or len(self.weights) != len(self.biases):
            raise BadInput(
                "`weights` and `biases` must hold one array per layer, got "
                f"{len(self.weights)} and {len(self.biases)}."
            )
        width = self.weights[0].shape[-1]
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            if w.shape[1] != width or b.shape != w.shape[:1]:
                raise BadInput(
                    f"layer {i} must have weights (outputs, {width}) and biases "
                    f"(outputs,), got {w.shape} and {b.shape}."
                )
            width = w.shape[0]

    @property
    def has_kinks(self) -> bool | None:
        """True for ReLU and leaky ReLU, None if the activation is unknown."""
        return has_kink(self.activation)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for w, b in hidden:
            x = self.activation(w @ x + b)
        w, b = last
        return self.factor * (w @ x + b)
